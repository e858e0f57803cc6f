import { isConnectionFailure } from './errors.ts';

const RETRY_MS = 1_000;

/**
 * Runs a check of the database when a service starts, and rejects if the check does. An unreachable
 * database does not prevent the start: the check is repeated until the database answers. If the
 * check fails then, the unhandled rejection ends the process.
 */
export async function verifyAtStart(check: () => Promise<void>): Promise<Disposable> {
  let timer: NodeJS.Timeout | undefined;
  let isDisposed = false;
  const run = async (): Promise<void> => {
    try {
      await check();
    } catch (error) {
      if (!isConnectionFailure(error)) throw error;
      if (!isDisposed) timer = setTimeout(() => void run(), RETRY_MS).unref();
    }
  };
  await run();
  return {
    [Symbol.dispose]() {
      isDisposed = true;
      clearTimeout(timer);
    },
  };
}
