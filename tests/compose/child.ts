/** Child processes of the run. */
import type { ChildProcess } from 'node:child_process';

/**
 * Resolves with a child's exit code, or null if a signal ended it; rejects if it could not start.
 * If its AbortSignal is ending the child, waits for that end and then rejects: until then the child
 * may use what the caller removes next.
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
