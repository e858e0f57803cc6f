/** Copies into libs/browser what it shares with the SDK: `npm run player-shapes`. */
import { readFileSync, writeFileSync } from 'node:fs';

const ROOT = new URL('../../', import.meta.url);

for (const file of ['player-shapes.ts', 'closed-sets.ts']) {
  const source = `libs/sdk/src/${file}`;
  const header = `// A copy of ${source}, by \`npm run player-shapes\`. Do not edit.\n\n`;
  writeFileSync(new URL(`libs/browser/src/${file}`, ROOT), header + readFileSync(new URL(source, ROOT), 'utf8'));
}
