import fc from 'fast-check';
import { expect, test } from 'vitest';
import { MAX_SENDS, nextSendAt, type RetryDelaysMs } from './retry-schedule.ts';

const CONTRACT: RetryDelaysMs = [60_000, 300_000];
const ENDED_AT = new Date('2026-03-04T05:06:07.089Z');

test.each([
  [1, new Date('2026-03-04T05:07:07.089Z')],
  [2, new Date('2026-03-04T05:11:07.089Z')],
  [3, null],
])('after failed send %i the next send is due at %o', (failed, due) => {
  expect(nextSendAt(failed, ENDED_AT, CONTRACT)).toEqual(due);
});

const delays = fc.tuple(fc.nat(86_400_000), fc.nat(86_400_000));

test('a delivery that always fails is sent exactly three times, each after its own delay', () => {
  fc.assert(
    fc.property(
      delays,
      fc.array(fc.nat(5_000), { minLength: MAX_SENDS, maxLength: MAX_SENDS }),
      (delaysMs, durations) => {
        const waits: number[] = [];
        let due: Date | null = ENDED_AT;
        let number = 0;
        while (due !== null) {
          const endedAt: Date = new Date(due.getTime() + (durations[number] ?? 0));
          number += 1;
          due = nextSendAt(number, endedAt, delaysMs);
          if (due !== null) waits.push(due.getTime() - endedAt.getTime());
        }
        expect(number).toBe(MAX_SENDS);
        expect(waits).toEqual(delaysMs);
      },
    ),
  );
});
