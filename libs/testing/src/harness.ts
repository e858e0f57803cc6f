import { afterAll, beforeAll } from 'vitest';

/** What one test file starts before its tests and disposes of after them; it exists once they run. `check` runs before the disposal. */
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
