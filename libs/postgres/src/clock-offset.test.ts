import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type ClockSample, likeliestOffsetMs, maxErrorMs, offsetOf, refineOffset } from './clock-offset.ts';

const ROUNDING = 1e-3;
const epoch = fc.double({ min: 1e12, max: 3e12, noNaN: true });
const uptime = fc.double({ min: 0, max: 1e9, noNaN: true });
const delay = fc.double({ min: 0, max: 60_000, noNaN: true });
/**
 * The time between two samples, and the drift of the clocks during it, as a share of the allowed
 * drift.
 */
const passage = fc.record({
  waitMs: fc.double({ min: 0, max: 600_000, noNaN: true }),
  drift: fc.double({ min: -0.001, max: 0.001, noNaN: true }),
  thereMs: delay,
  backMs: delay,
});

type Passage = typeof passage extends fc.Arbitrary<infer Value> ? Value : never;

/**
 * Returns samples of a database clock that is `offset` ahead and drifts, with a delay in each
 * direction. Each comes with the true offset at its end.
 */
function play(offset: number, startedAt: number, passages: readonly Passage[]) {
  let now = startedAt;
  let truth = offset;
  return passages.map(({ waitMs, drift, thereMs, backMs }) => {
    const pass = (ms: number) => {
      now += ms;
      truth += ms * drift;
    };
    pass(waitMs);
    const sentAt = now;
    pass(thereMs);
    const shown = now + truth;
    pass(backMs);
    const sample: ClockSample = { sentAt, receivedAt: now, shown };
    return { sample, truth };
  });
}

describe('one sample', () => {
  test('the error of one clock sample is at most half of the round trip', () => {
    fc.assert(
      fc.property(epoch, uptime, delay, delay, (offset, sentAt, thereMs, backMs) => {
        const sample = { sentAt, receivedAt: sentAt + thereMs + backMs, shown: sentAt + thereMs + offset };
        const measured = offsetOf(sample);
        const error = Math.abs(likeliestOffsetMs(measured) - offset);
        expect(error).toBeLessThanOrEqual((thereMs + backMs) / 2 + ROUNDING);
        expect(maxErrorMs(measured, sample.receivedAt)).toBeLessThanOrEqual(
          ((thereMs + backMs) / 2) * 1.002 + ROUNDING,
        );
        expect(maxErrorMs(measured, sample.receivedAt)).toBeGreaterThanOrEqual(error - ROUNDING);
      }),
    );
  });

  test('one clock sample with equal delays in both directions is exact', () => {
    expect(likeliestOffsetMs(offsetOf({ sentAt: 100, receivedAt: 140, shown: 5_000_120 }))).toBe(5_000_000);
  });
});

describe('many samples', () => {
  test('clock samples bound the true offset as long as drift stays within its limit', () => {
    fc.assert(
      fc.property(epoch, uptime, fc.array(passage, { minLength: 1, maxLength: 30 }), (start, startedAt, passages) => {
        let known: ReturnType<typeof offsetOf> | undefined;
        for (const { sample, truth } of play(start, startedAt, passages)) {
          const refined =
            known === undefined ? { offset: offsetOf(sample), isStep: false } : refineOffset(known, sample);
          expect(refined.isStep).toBe(false);
          known = refined.offset;
          expect(Math.abs(likeliestOffsetMs(known) - truth)).toBeLessThanOrEqual(
            maxErrorMs(known, sample.receivedAt) + ROUNDING,
          );
        }
      }),
    );
  });

  test('several clock samples are at least as exact as the best of them', () => {
    fc.assert(
      fc.property(epoch, uptime, fc.array(passage, { minLength: 2, maxLength: 30 }), (start, startedAt, passages) => {
        const samples = play(start, startedAt, passages).map(({ sample }) => sample);
        const [first, ...rest] = samples as [ClockSample, ...ClockSample[]];
        const known = rest.reduce((offset, sample) => refineOffset(offset, sample).offset, offsetOf(first));
        const now = known.measuredAt;
        for (const sample of samples)
          expect(maxErrorMs(known, now)).toBeLessThanOrEqual(maxErrorMs(offsetOf(sample), now) + ROUNDING);
      }),
    );
  });

  test('a step of the clock is reported if neither round trips nor drift explain it', () => {
    fc.assert(
      fc.property(epoch, uptime, passage, passage, fc.boolean(), (start, startedAt, one, other, isForward) => {
        const [first, second] = play(start, startedAt, [one, other]).map(({ sample }) => sample) as [
          ClockSample,
          ClockSample,
        ];
        const known = offsetOf(first);
        const least =
          2 * maxErrorMs(known, second.receivedAt) + 2 * maxErrorMs(offsetOf(second), second.receivedAt) + 1;
        const set = { ...second, shown: second.shown + (isForward ? least : -least) };
        expect(refineOffset(known, set)).toEqual({ offset: offsetOf(set), isStep: true });
      }),
    );
  });
});
