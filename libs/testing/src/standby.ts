/**
 * A process that stands by for one that a test kills: `node standby.ts <main> <file> ...` loads the
 * files, which are those that `main` imports, and runs `main` once its parent writes a byte. It
 * ends with its parent.
 */
import { flushCompileCache } from 'node:module';

const [main = '', ...files] = process.argv.slice(2);
for (const file of files) await import(file);
// Otherwise Node writes the cache at the end of a process, and not if it is killed.
flushCompileCache();

const isWanted = await new Promise<boolean>((resolve) => {
  process.stdin.once('data', () => resolve(true));
  process.stdin.once('end', () => resolve(false));
});
if (!isWanted) process.exit(0);
process.stdin.destroy();
await import(main);
