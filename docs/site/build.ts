/**
 * Builds the site into docs/site/dist: `node docs/site/build.ts`. Two builds at once do not disturb each other: each works in a folder of its own and
 * puts it in place as a whole, and the last one stays.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vitepress';
import { DIST, inputsFingerprint, STAMP } from './inputs.ts';
import { replaceFolder } from './replace-folder.ts';
import { writePages } from './write-pages.ts';

const HERE = fileURLToPath(new URL('./', import.meta.url));

const fingerprint = inputsFingerprint();
const work = mkdtempSync(join(HERE, '.work-'));
try {
  const routes = writePages(work);
  const settings = join(work, '.vitepress');
  mkdirSync(join(settings, 'theme'), { recursive: true });
  writeFileSync(join(work, 'routes.json'), JSON.stringify(routes));
  writeFileSync(
    join(settings, 'config.ts'),
    `import routes from '../routes.json' with { type: 'json' };\nimport { siteConfig } from '../../config.ts';\n\nexport default siteConfig(routes);\n`,
  );
  writeFileSync(join(settings, 'theme', 'index.ts'), `export { default } from '../../../theme/index.ts';\n`);
  const built = join(work, 'dist');
  await build(work, { outDir: built });
  writeFileSync(join(built, STAMP), fingerprint);
  replaceFolder(DIST, built, work);
} finally {
  rmSync(work, { recursive: true, force: true });
}
