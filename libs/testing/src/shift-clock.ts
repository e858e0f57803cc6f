/**
 * Loaded into a process before anything else (`node --import`): its system clock is off by as many milliseconds as the file has, read again
 * at each reading, so that a test sets the clock of a running process. The monotonic clock is not changed, as on a machine whose
 * clock is set.
 */
import { readFileSync } from 'node:fs';

export const CLOCK_FILE_VARIABLE = 'LAUREL_TEST_CLOCK_FILE';

const file = process.env[CLOCK_FILE_VARIABLE];

if (file !== undefined) {
  const RealDate = Date;
  const now = () => RealDate.now() + Number(readFileSync(file, 'utf8'));
  globalThis.Date = new Proxy(RealDate, {
    construct: (target, values, newTarget) =>
      Reflect.construct(target, values.length === 0 ? [now()] : values, newTarget),
    get: (target, key) => (key === 'now' ? now : Reflect.get(target, key)),
  });
}
