import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  claimedBandOf,
  countOutcomes,
  type DriftState,
  FIRST_JUDGED_ATTEMPT,
  isReadingDue,
  LOG_LIMIT,
  logRatiosOf,
} from './drift-monitor.ts';

const START: DriftState = { attempts: 0, passes: 0 };
const TARGETS = [0.02, 0.2, 0.5, 0.9];

/**
 * The mean likelihood ratio of the outcomes in their order, by its definition: rates of the grid
 * against the edge.
 */
function ratioInOrder(passed: readonly boolean[], edge: number, side: 1 | -1): number {
  const odds = edge / (1 - edge);
  const ratios = Array.from({ length: 20 }, (_, index) => {
    const beyond = odds * Math.exp((side * (index + 1)) / 10);
    const rate = beyond / (1 + beyond);
    return passed.reduce((ratio, pass) => ratio * (pass ? rate / edge : (1 - rate) / (1 - edge)), 1);
  });
  return ratios.reduce((total, ratio) => total + ratio, 0) / ratios.length;
}

function stateOf(passed: readonly boolean[]): DriftState {
  return { attempts: passed.length, passes: passed.filter(Boolean).length };
}

function everySequenceOf(length: number): boolean[][] {
  return Array.from({ length: 2 ** length }, (_, bits) =>
    Array.from({ length }, (__, place) => ((bits >> place) & 1) === 1),
  );
}

/** Paths less likely than this are skipped: in 20,000 x 20,000 states they change no figure. */
const NEGLIGIBLE = 1e-30;

/**
 * For each number of attempts, the exact probability that a challenge with this pass rate is
 * suspended by then, over all paths of the lattice (attempts, passes).
 */
function suspendedBy(rate: number, target: number, attempts: number): number[] {
  const chances = new Float64Array(attempts + 2);
  chances[0] = 1;
  let [fewest, most] = [0, 0];
  let suspended = 0;
  const cumulated = [0];
  // Ratios are monotone in the passes, and both limits move up with the attempts.
  let tooMany = 0;
  let tooFew = -1;
  for (let n = 1; n <= attempts; n += 1) {
    for (let k = most + 1; k > fewest; k -= 1) {
      chances[k] = (chances[k] ?? 0) * (1 - rate) + (chances[k - 1] ?? 0) * rate;
    }
    chances[fewest] = (chances[fewest] ?? 0) * (1 - rate);
    most += 1;
    if (n >= FIRST_JUDGED_ATTEMPT) {
      while (tooMany <= n && logRatiosOf({ attempts: n, passes: tooMany }, target).above <= LOG_LIMIT) tooMany += 1;
      while (logRatiosOf({ attempts: n, passes: tooFew + 1 }, target).below > LOG_LIMIT) tooFew += 1;
      for (let k = fewest; k <= most; k += 1) {
        if (k < tooMany && k > tooFew) continue;
        suspended += chances[k] ?? 0;
        chances[k] = 0;
      }
    }
    while (fewest < most && (chances[fewest] ?? 0) < NEGLIGIBLE) chances[fewest++] = 0;
    while (most > fewest && (chances[most] ?? 0) < NEGLIGIBLE) chances[most--] = 0;
    cumulated.push(suspended);
  }
  return cumulated;
}

describe('the claim', () => {
  it('the claimed band reaches from the target divided by 1.5 to the target times 1.5', () => {
    expect(claimedBandOf(0.3).low).toBeCloseTo(0.2, 15);
    expect(claimedBandOf(0.3).high).toBeCloseTo(0.45, 15);
    expect(claimedBandOf(0.9).high).toBe(1);
  });
});

describe('the likelihood ratios', () => {
  it('the likelihood ratios match their definition for outcomes in any order', () => {
    const outcomes = fc.array(fc.boolean(), { maxLength: 200 });
    fc.assert(
      fc.property(outcomes, fc.constantFrom(...TARGETS), (passed, target) => {
        const { low, high } = claimedBandOf(target);
        const ratios = logRatiosOf(stateOf(passed), target);
        expect(ratios.below).toBeCloseTo(Math.log(ratioInOrder(passed, low, -1)), 8);
        expect(ratios.above).toBeCloseTo(high === 1 ? 0 : Math.log(ratioInOrder(passed, high, 1)), 8);
      }),
    );
  });

  it('the likelihood ratios have an expectation of at most 1 within the band', () => {
    const sequences = everySequenceOf(12).map(stateOf);
    for (const target of TARGETS) {
      const { low, high } = claimedBandOf(target);
      const expected = (rate: number, side: 'above' | 'below') =>
        sequences.reduce((total, state) => {
          const chance = rate ** state.passes * (1 - rate) ** (state.attempts - state.passes);
          return total + chance * Math.exp(logRatiosOf(state, target)[side]);
        }, 0);
      expect(expected(low, 'below')).toBeCloseTo(1, 10);
      expect(expected(high, 'above')).toBeCloseTo(1, 10);
      for (const share of [0.1, 0.5, 0.9]) {
        const within = low + share * (high - low);
        expect(expected(within, 'below')).toBeLessThan(1);
        if (high < 1) expect(expected(within, 'above')).toBeLessThan(1);
      }
    }
  });

  it('each further pass raises the likelihood ratio of “too often” and lowers that of “too seldom”', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100_000 }), fc.nat(), target(), (attempts, any, rate) => {
        const passes = any % attempts;
        const [fewer, more] = [passes, passes + 1].map((count) => logRatiosOf({ attempts, passes: count }, rate));
        expect((more?.above ?? 0) >= (fewer?.above ?? 0) && (more?.below ?? 0) <= (fewer?.below ?? 0)).toBe(true);
      }),
    );
    function target() {
      return fc.constantFrom(...TARGETS);
    }
  });

  it('the likelihood ratio of “too often” stays 1 if the upper edge is 1', () => {
    expect(logRatiosOf({ attempts: 1_000_000, passes: 1_000_000 }, 0.9).above).toBe(0);
    expect(countOutcomes(START, Array<boolean>(2_000).fill(true), 0.9).rejectedAt).toBeNull();
  });
});

describe('the error of the monitor', () => {
  it('the monitor suspends a challenge at an edge of the band with a probability of at most 0.0005', () => {
    const errors = [0.05, 0.2, 0.5].map((target) => {
      const { low, high } = claimedBandOf(target);
      return [low, high, target].map((rate) => suspendedBy(rate, target, 20_000).at(-1) ?? 1);
    });
    for (const [atLow = 1, atHigh = 1, atTarget = 1] of errors) {
      expect(atLow).toBeLessThanOrEqual(0.0005);
      expect(atHigh).toBeLessThanOrEqual(0.0005);
      expect(atTarget).toBeLessThan(1e-6);
    }
    // The bounds that docs/contract/rules.md states. If the errors were far lower, the limit would
    // be needlessly high.
    const ofAFifth = errors[1] ?? [];
    expect(ofAFifth[0]).toBeCloseTo(0.00047, 5);
    expect(ofAFifth[1]).toBeCloseTo(0.00026, 5);
    expect(ofAFifth[2]).toBeCloseTo(0.0000002, 7);
  });

  it('with a target of 0.2, the monitor finds a threefold pass rate within 84 attempts in 95 % of cases', () => {
    const within = (rate: number) => suspendedBy(rate, 0.2, 1_000).findIndex((chance) => chance >= 0.95);
    const found = { threefold: within(0.6), double: within(0.4), third: within(0.2 / 3) };
    // The numbers that docs/contract/rules.md states.
    expect(found).toEqual({ threefold: 84, double: 783, third: 682 });
    expect(found.threefold).toBeGreaterThanOrEqual(FIRST_JUDGED_ATTEMPT);
    expect(found.threefold).toBeLessThanOrEqual(150);
    expect(found.double).toBeLessThanOrEqual(1_000);
    expect(found.double).toBeGreaterThan(found.threefold);
    expect(found.third).toBeLessThanOrEqual(778);
    expect(found.third).toBeGreaterThan(0);
  });
});

describe('counting outcomes', () => {
  const outcomes = fc
    .record({ percent: fc.constantFrom(2, 10, 20, 30, 45, 80), draws: fc.array(fc.nat(99), { maxLength: 600 }) })
    .map(({ percent, draws }) => draws.map((draw) => draw < percent));

  /** Counts one outcome at a time, and compares the ratios with the limits after each. */
  function followEach(passed: readonly boolean[], target: number) {
    let state = START;
    for (const pass of passed) {
      state = { attempts: state.attempts + 1, passes: state.passes + (pass ? 1 : 0) };
      const ratios = logRatiosOf(state, target);
      const exceeds = ratios.above > LOG_LIMIT || ratios.below > LOG_LIMIT;
      if (state.attempts >= FIRST_JUDGED_ATTEMPT && exceeds) return { state, rejectedAt: { ...state, ...ratios } };
    }
    return { state, rejectedAt: null };
  }

  it('counting stops at the first attempt, from the 50th on, at which a ratio exceeds its limit', () => {
    fc.assert(
      fc.property(outcomes, fc.constantFrom(...TARGETS), (passed, target) => {
        expect(countOutcomes(START, passed, target)).toEqual(followEach(passed, target));
      }),
      { numRuns: 300 },
    );
    expect(countOutcomes(START, Array<boolean>(49).fill(true), 0.2)).toEqual({
      state: { attempts: 49, passes: 49 },
      rejectedAt: null,
    });
    expect(countOutcomes(START, Array<boolean>(80).fill(true), 0.2).rejectedAt).toMatchObject({
      attempts: 50,
      passes: 50,
    });
  });

  it('a streak counts in full, however long the pass rate was within the claimed band before', () => {
    const streak = fc.record({
      target: fc.constantFrom(0.02, 0.2, 0.5, 0.9),
      before: fc.nat(300),
      passes: fc.boolean(),
    });
    let rejected = 0;
    fc.assert(
      fc.property(streak, ({ target, before, passes }) => {
        const asClaimed = Array.from(
          { length: before },
          (_, index) => Math.floor((index + 1) * target) > index * target,
        );
        const passed = [...asClaimed, ...Array<boolean>(700).fill(passes)];
        const followed = countOutcomes(START, passed, target);
        if (followed.rejectedAt !== null) rejected += 1;
        expect(followed).toEqual(followEach(passed, target));
      }),
    );
    expect(rejected).toBeGreaterThan(50);
  });

  it('counting in several batches gives the same result as in one batch', () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 600, maxLength: 600 });
    fc.assert(
      fc.property(outcomes, sizes, fc.constantFrom(...TARGETS), (passed, parts, target) => {
        let followed = countOutcomes(START, [], target);
        let from = 0;
        for (const size of parts) {
          if (followed.rejectedAt !== null) break;
          followed = countOutcomes(followed.state, passed.slice(from, from + size), target);
          from += size;
        }
        expect(followed).toEqual(countOutcomes(START, passed, target));
      }),
      { numRuns: 300 },
    );
  });

  it('counting a million outcomes takes at most a second', () => {
    const passed = Array.from({ length: 1_000_000 }, (_, index) => index % 5 === 0);
    const startedAt = performance.now();
    expect(countOutcomes(START, passed, 0.2)).toEqual({
      state: { attempts: 1_000_000, passes: 200_000 },
      rejectedAt: null,
    });
    expect(performance.now() - startedAt).toBeLessThan(1_000);
  });
});

describe('the readings', () => {
  it('a reading is due at the 50th attempt and after each growth by a tenth', () => {
    const due: number[] = [];
    for (let attempts = 1; attempts <= 100; attempts += 1) if (isReadingDue(attempts - 1, attempts)) due.push(attempts);
    expect(due).toEqual([50, 55, 61, 67, 74, 81, 89, 98]);
  });

  it('a reading is due after a batch exactly if it was due after any attempt of the batch', () => {
    fc.assert(
      fc.property(fc.nat(5_000), fc.integer({ min: 1, max: 500 }), (from, size) => {
        const each = Array.from({ length: size }, (_, index) => isReadingDue(from + index, from + index + 1));
        expect(isReadingDue(from, from + size)).toBe(each.includes(true));
      }),
    );
  });
});
