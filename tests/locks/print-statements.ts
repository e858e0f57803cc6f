/**
 * Prints every SQL statement of every repository folder as JSON. statements.ts runs it in a
 * separate process, because the constants with the statements are not exported: it loads the
 * modules with one more export.
 */
import { globSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { basename, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { WrittenStatement } from './statements.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const files = globSync('{services,libs}/*/src/repository/*.ts', { cwd: root })
  .filter((file) => !/\.(test|fixture)\.ts$/.test(file))
  .sort();

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    if (!files.some((file) => pathToFileURL(join(root, file)).href === url)) return loaded;
    const source = String(loaded.source);
    const constants = [...source.matchAll(/^(?:export )?const (\w+)/gm)].map(([, name]) => name);
    return {
      ...loaded,
      source: `${source}
export const statementsOfModule = {
  constants: { ${constants.join(', ')} },
  written: ${source.match(/(?:^\s+|[{,] )text:/gm)?.length ?? 0},
};`,
    };
  },
});

const statements: WrittenStatement[] = [];
for (const file of files) {
  const { statementsOfModule } = await import(pathToFileURL(join(root, file)).href);
  const constants = Object.entries<{ name?: string; text?: unknown } | null | undefined>(statementsOfModule.constants);
  const found = constants.flatMap(([constant, value]) => {
    if (typeof value?.text !== 'string') return [];
    const label = `${file.split('/')[1]} ${value.name ?? `${basename(file)} ${constant}`}`;
    return [{ label, file, text: value.text }];
  });
  if (found.length !== statementsOfModule.written) {
    throw new Error(
      `${file} has ${found.length} statements among its constants and writes ${statementsOfModule.written}: a statement is a constant of its module`,
    );
  }
  statements.push(...found);
}
process.stdout.write(JSON.stringify(statements));
