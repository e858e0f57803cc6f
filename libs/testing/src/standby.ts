/**
 * A process that stands by to replace a process that a test kills. `node standby.ts <main> <file>
 * ...` loads the files, which `main` imports, and runs `main` once its parent writes a byte. It
 * ends with its parent.
 */
import { flushCompileCache } from 'node:module';

const [main = '', ...files] = process.argv.slice(2);
for (const file of files) await import(file);
// Writes the cache now, because Node would write it only at the end of the process, and not if the
// process is killed.
flushCompileCache();

const isWanted = await new Promise<boolean>((resolve) => {
  process.stdin.once('data', () => resolve(true));
  process.stdin.once('end', () => resolve(false));
});
if (!isWanted) process.exit(0);
process.stdin.destroy();
await import(main);
