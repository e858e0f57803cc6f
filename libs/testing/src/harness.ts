import { afterAll, beforeAll } from 'vitest';

/** Starts something before a file's tests and disposes of it after them, once `check` has run. */
export function useStarted<Started extends AsyncDisposable>(
  start: () => Promise<Started>,
  check?: (started: Started) => Promise<void>,
): Started {
  const started = {} as Started;
  let hasStarted = false;
  beforeAll(async () => {
    Object.assign(started, await start());
    hasStarted = true;
  });
  afterAll(async () => {
    if (!hasStarted) return;
    await check?.(started);
    await started[Symbol.asyncDispose]();
  });
  return started;
}
