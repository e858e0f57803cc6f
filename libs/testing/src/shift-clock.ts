/**
 * Loaded before anything else (`node --import`): shifts the process's system clock by the
 * milliseconds in the file. Each reading of the clock reads the file again, so a test can set the
 * clock of a running process. The monotonic clock stays unchanged, as on a real machine.
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
