/** Copies `src/player-shapes.ts` into libs/browser: `npm run player-shapes`. */
import { readFileSync, writeFileSync } from 'node:fs';

const SOURCE = 'libs/sdk/src/player-shapes.ts';
const ROOT = new URL('../../', import.meta.url);
const header = `// A copy of ${SOURCE}, by \`npm run player-shapes\`. Do not edit.\n\n`;

writeFileSync(new URL('libs/browser/src/player-shapes.ts', ROOT), header + readFileSync(new URL(SOURCE, ROOT), 'utf8'));
