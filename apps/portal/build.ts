/**
 * Builds the developer portal and the operator's pages into two folders of apps/portal/dist: `node
 * apps/portal/build.ts`. Concurrent builds do not disturb each other: each works in a folder of its
 * own, and moves the finished folder into place.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { inputsFingerprint, putInPlace } from '@laurel/docs-site/built-folder';
import { build } from 'vite';
import { PORTAL_FOLDER } from './inputs.ts';

// Vite follows NODE_ENV, which a shell or a test may have set: React for development is several
// times larger, and runs effects twice.
process.env.NODE_ENV = 'production';

const CONFIGURATIONS = { portal: 'vite.config.ts', operator: 'operator.config.ts' };

const fingerprint = inputsFingerprint(PORTAL_FOLDER);
const work = mkdtempSync(join(PORTAL_FOLDER.base, '.work-'));
try {
  const built = join(work, 'dist');
  for (const [name, file] of Object.entries(CONFIGURATIONS)) {
    const outDir = join(built, name);
    await build({ configFile: join(PORTAL_FOLDER.base, file), logLevel: 'warn', build: { outDir, emptyOutDir: true } });
  }
  putInPlace(PORTAL_FOLDER, built, work, fingerprint);
} finally {
  rmSync(work, { recursive: true, force: true });
}
