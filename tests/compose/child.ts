/** Child processes of the run. */
import type { ChildProcess } from 'node:child_process';

/**
 * Resolves with the exit code of a child that has ended, null if a signal ended it; rejects where it could not be started. A child that its
 * AbortSignal is about to end is awaited all the same, and then rejects: what is removed next may still be in its use.
 */
export async function exitOf(child: ChildProcess): Promise<number | null> {
  let failure: Error | undefined;
  child.once('error', (error) => {
    failure = error;
  });
  const code = await new Promise<number | null>((resolve) => {
    child.once('close', resolve);
  });
  if (failure !== undefined) throw failure;
  return code;
}
