/**
 * `npm run release -- 0.2.0` writes the version into every file that has one.
 * docs/operations/release.md has the steps before and after.
 */
import { fileURLToPath } from 'node:url';
import { writeRelease } from './release-files.ts';
import { StartFailure } from './stack/start-failure.ts';

try {
  const files = writeRelease(fileURLToPath(new URL('../..', import.meta.url)), process.argv[2], new Date());
  console.log(
    `${files.join('\n')}\n\nLook at the difference, commit it, and continue with docs/operations/release.md.`,
  );
} catch (error) {
  if (!(error instanceof StartFailure)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
