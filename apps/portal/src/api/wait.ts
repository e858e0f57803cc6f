/** Waits that end early, by an AbortError, once their signal is aborted. */

export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await until(signal, (done) => {
    const timer = setTimeout(done, ms);
    return () => clearTimeout(timer);
  });
}

/** Resolves at once if somebody can see the page. */
export async function untilVisible(signal: AbortSignal): Promise<void> {
  while (document.hidden) {
    await until(signal, (done) => {
      document.addEventListener('visibilitychange', done);
      return () => document.removeEventListener('visibilitychange', done);
    });
  }
}

/** A wait or a call that was aborted because its page has gone has no result. */
export function ignoreAbort(error: unknown): void {
  if ((error as Error).name !== 'AbortError') throw error;
}

async function until(signal: AbortSignal, begin: (done: () => void) => () => void): Promise<void> {
  signal.throwIfAborted();
  let end: () => void = () => undefined;
  const aborted = Promise.withResolvers<void>();
  const abort = () => aborted.reject(signal.reason);
  signal.addEventListener('abort', abort);
  try {
    await Promise.race([
      aborted.promise,
      new Promise<void>((resolve) => {
        end = begin(resolve);
      }),
    ]);
  } finally {
    end();
    signal.removeEventListener('abort', abort);
  }
}
