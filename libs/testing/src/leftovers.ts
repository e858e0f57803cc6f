/**
 * Cleans up after killed runs, which could neither stop their servers nor remove their folders. The
 * name of such a folder begins with its kind and the process id: `<prefix><pid>-`.
 */
import { readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Calls `stop` for each folder of a run that has ended, then removes the folder. Leaves other
 * folders alone.
 */
export async function removeLeftovers(
  prefix: string,
  stop: (directory: string) => Promise<void>,
  parent = tmpdir(),
): Promise<void> {
  for (const name of await readdir(parent)) {
    const [, owner] = (name.startsWith(prefix) && /^(\d+)-/.exec(name.slice(prefix.length))) || [];
    if (owner === undefined || isRunning(Number(owner))) continue;
    const directory = join(parent, name);
    await stop(directory);
    await rm(directory, { recursive: true, force: true });
  }
}

/** Whether a process with this id exists, whichever user runs it. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
