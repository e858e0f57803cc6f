import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { passRateConfidenceInterval } from './pass-rate.ts';

const counted = fc
  .integer({ min: 1, max: 1_000_000 })
  .chain((attempts) => fc.record({ attempts: fc.constant(attempts), passes: fc.integer({ min: 0, max: attempts }) }));

const intervalOf = (attempts: number, passes: number) =>
  passRateConfidenceInterval({ attempts, passes }) ?? expect.fail('no interval');

/** The tolerance for two ends of intervals that differ only by rounding. */
const TOLERANCE = 1e-12;

describe('the interval of a pass rate', () => {
  it('the interval of a pass rate is the Wilson interval of 95 %', () => {
    expect(passRateConfidenceInterval({ attempts: 0, passes: 0 })).toBeNull();
    // Wilson (1927); values as in Newcombe, Statistics in Medicine 17 (1998), table I.
    const rounded = [
      [263, 81],
      [148, 15],
      [20, 0],
      [29, 1],
    ].map(([attempts = 0, passes = 0]) => {
      const { low, high } = intervalOf(attempts, passes);
      return [low.toFixed(4), high.toFixed(4)];
    });
    expect(rounded).toEqual([
      ['0.2553', '0.3662'],
      ['0.0624', '0.1605'],
      ['0.0000', '0.1611'],
      ['0.0061', '0.1718'],
    ]);
  });

  it('the interval of a pass rate always contains the observed rate', () => {
    fc.assert(
      fc.property(counted, ({ attempts, passes }) => {
        const { low, high } = intervalOf(attempts, passes);
        const observed = passes / attempts;
        expect(low).toBeGreaterThanOrEqual(0);
        expect(low).toBeLessThanOrEqual(observed);
        expect(high).toBeGreaterThanOrEqual(observed);
        expect(high).toBeLessThanOrEqual(1);
        expect(low).toBeLessThan(high);
      }),
    );
  });

  it('more attempts at the same pass rate make its interval narrower', () => {
    fc.assert(
      fc.property(counted, fc.integer({ min: 2, max: 50 }), ({ attempts, passes }, times) => {
        const before = intervalOf(attempts, passes);
        const after = intervalOf(attempts * times, passes * times);
        expect(after.low).toBeGreaterThanOrEqual(before.low - TOLERANCE);
        expect(after.high).toBeLessThanOrEqual(before.high + TOLERANCE);
        expect(after.high - after.low).toBeLessThan(before.high - before.low);
      }),
    );
  });

  it('one more pass raises both ends of the interval', () => {
    fc.assert(
      fc.property(counted, ({ attempts, passes }) => {
        fc.pre(passes < attempts);
        const [before, after] = [intervalOf(attempts, passes), intervalOf(attempts, passes + 1)];
        expect(after.low).toBeGreaterThanOrEqual(before.low - TOLERANCE);
        expect(after.high).toBeGreaterThanOrEqual(before.high - TOLERANCE);
      }),
    );
  });

  it('the interval of the rate of misses is 1 minus the interval of the pass rate', () => {
    fc.assert(
      fc.property(counted, ({ attempts, passes }) => {
        const [passed, missed] = [intervalOf(attempts, passes), intervalOf(attempts, attempts - passes)];
        expect(missed.low).toBeCloseTo(1 - passed.high, 9);
        expect(missed.high).toBeCloseTo(1 - passed.low, 9);
      }),
    );
  });
});
