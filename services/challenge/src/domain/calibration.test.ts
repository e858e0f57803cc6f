import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  barFromPercentiles,
  type Distribution,
  fairShareOf,
  intervalRanksOfBar,
  isCalibrated,
  issuesOfDistribution,
  rankOfBar,
} from './calibration.ts';
import type { ThresholdDirection } from './challenge.ts';
import { clears } from './threshold.ts';

const MIRRORED = { higher_is_better: 'lower_is_better', lower_is_better: 'higher_is_better' } as const;
const direction = fc.constantFrom<ThresholdDirection>('higher_is_better', 'lower_is_better');
const target = fc.double({ min: 0.001, max: 0.999, noNaN: true });
const whole = fc.integer({ min: -1_000_000, max: 1_000_000 });
const finite = fc.double({ noNaN: true, noDefaultInfinity: true });
const terms = fc.record({
  minCalibrationN: fc.integer({ min: 1, max: 2_147_483_647 }),
  minCalibrationPlayers: fc.integer({ min: 1, max: 2_147_483_647 }),
});

function ascending(scores: readonly number[]): Distribution {
  const [p5 = 0, p25 = 0, p50 = 0, p75 = 0, p95 = 0] = scores.toSorted((one, other) => one - other);
  return { p5, p25, p50, p75, p95 };
}

const distribution = fc.uniqueArray(whole, { minLength: 5, maxLength: 5 }).map(ascending);
const anyDistribution = fc
  .uniqueArray(finite, { minLength: 5, maxLength: 5, comparator: (one, other) => one === other })
  .map(ascending);

function mirrored({ p5, p25, p50, p75, p95 }: Distribution): Distribution {
  return { p5: -p95, p25: -p75, p50: -p50, p75: -p25, p95: -p5 };
}

/** Numbers from 0 to 1, the same in every run (Numerical Recipes, a linear congruence). */
function createDraw(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** The result is positive if the first bar is easier to clear. */
function easier(one: number, other: number, is: ThresholdDirection): number {
  return is === 'higher_is_better' ? other - one : one - other;
}

describe('the bar of five percentiles', () => {
  const DISTRIBUTION = { p5: 10, p25: 20, p50: 40, p75: 70, p95: 110 };

  it('at a target of 5, 25, 50, 75 or 95 % the bar is exactly the matching percentile', () => {
    const bars = (is: ThresholdDirection) =>
      [0.05, 0.25, 0.5, 0.75, 0.95].map((rate) => barFromPercentiles(DISTRIBUTION, rate, is));
    expect(bars('higher_is_better')).toEqual([110, 70, 40, 20, 10]);
    expect(bars('lower_is_better')).toEqual([10, 20, 40, 70, 110]);
  });

  it('the bar is interpolated between percentiles and never beyond the lowest or the highest', () => {
    expect(barFromPercentiles(DISTRIBUTION, 0.15, 'higher_is_better')).toBeCloseTo(90, 10);
    expect(barFromPercentiles(DISTRIBUTION, 0.15, 'lower_is_better')).toBeCloseTo(15, 10);
    expect(barFromPercentiles(DISTRIBUTION, 0.01, 'higher_is_better')).toBe(110);
    expect(barFromPercentiles(DISTRIBUTION, 0.99, 'higher_is_better')).toBe(10);
    expect(barFromPercentiles(DISTRIBUTION, 0.01, 'lower_is_better')).toBe(10);
    expect(barFromPercentiles(DISTRIBUTION, 0.99, 'lower_is_better')).toBe(110);
  });

  it('the bar lies between the lowest and the highest percentile, even if their difference is not finite', () => {
    fc.assert(
      fc.property(anyDistribution, target, direction, (percentiles, rate, is) => {
        const bar = barFromPercentiles(percentiles, rate, is);
        expect(bar >= percentiles.p5 && bar <= percentiles.p95).toBe(true);
      }),
    );
    const widest = { p5: -1.7e308, p25: -1e308, p50: 0, p75: 1e308, p95: 1.7e308 };
    expect(barFromPercentiles(widest, 0.375, 'lower_is_better')).toBe(-0.5e308);
  });

  it('a higher target pass rate never makes the bar of percentiles harder', () => {
    fc.assert(
      fc.property(anyDistribution, target, target, direction, (percentiles, one, other, is) => {
        const [low, high] = [Math.min(one, other), Math.max(one, other)];
        const bars = [low, high].map((rate) => barFromPercentiles(percentiles, rate, is)) as [number, number];
        expect(easier(bars[1], bars[0], is)).toBeGreaterThanOrEqual(0);
      }),
    );
  });

  it('scaling or shifting every percentile changes the bar in the same way', () => {
    const scale = fc.integer({ min: 1, max: 1_000 });
    fc.assert(
      fc.property(distribution, target, direction, scale, whole, (percentiles, rate, is, factor, offset) => {
        const changed = ascending(Object.values(percentiles).map((score) => factor * score + offset));
        const expected = factor * barFromPercentiles(percentiles, rate, is) + offset;
        const tolerance = 1e-9 * (factor * 1_000_000 + Math.abs(offset));
        expect(Math.abs(barFromPercentiles(changed, rate, is) - expected)).toBeLessThanOrEqual(tolerance);
      }),
    );
  });

  it('negating every percentile and reversing the direction negates the bar', () => {
    fc.assert(
      fc.property(anyDistribution, target, direction, (percentiles, rate, is) => {
        const inMirror = -barFromPercentiles(mirrored(percentiles), rate, MIRRORED[is]);
        expect(inMirror === barFromPercentiles(percentiles, rate, is)).toBe(true);
      }),
    );
  });
});

describe('the pass rate of a bar', () => {
  const TRIALS = 1_000;
  /**
   * The least share of TRIALS trials that is still explained by chance if the true share is 99 %:
   * 3.3 standard deviations below it.
   */
  const LEAST_SHARE = 0.99 - 3.3 * Math.sqrt((0.99 * 0.01) / TRIALS);
  const draw = createDraw(14);
  const shareOf = (isWithin: () => boolean) => Array.from({ length: TRIALS }, isWithin).filter(Boolean).length / TRIALS;

  it.each([
    [0.05, 0.03, 0.081],
    [0.2, 0.03, 0.303],
    [0.5, 0.444, 0.558],
  ])(
    'with a target of %f, the bar of 500 scores is reached by %f to %f of all scores in 99 of 100 trials',
    (rate, low, high) => {
      const share = shareOf(() => {
        const scores = Float64Array.from({ length: 500 }, draw).sort();
        const at = (part: number) => scores[Math.round(part * 500) - 1] ?? Number.NaN;
        const percentiles = { p5: at(0.05), p25: at(0.25), p50: at(0.5), p75: at(0.75), p95: at(0.95) };
        const reached = 1 - barFromPercentiles(percentiles, rate, 'higher_is_better');
        return low <= reached && reached <= high;
      });
      expect(share).toBeGreaterThanOrEqual(LEAST_SHARE);
    },
  );

  it.each([
    ['every player plays as often', () => 1],
    ['a few players have most of the runs', (index: number) => 1 / (index + 1)],
  ] as const)(
    'in 99 of 100 trials the interval of a bar contains the score that the target share of the players’ runs reach, if %s',
    (_, weightOf) => {
      const required = { minCalibrationN: 200, minCalibrationPlayers: 20 };
      // Skill makes 36 % of the variance of all scores, and luck the rest.
      const luck = 4 / 3;
      const reachOf = (skill: number, bar: number) => Math.min(1, Math.max(0, (skill + luck - bar) / luck));
      const share = shareOf(() => {
        let weights = 0;
        const players = Array.from({ length: 60 }, (__, index) => {
          weights += weightOf(index);
          return { skill: draw(), upTo: weights, count: 0 };
        });
        const counted: { skill: number; score: number }[] = [];
        const playersCollected = () => players.filter(({ count }) => count > 0).length;
        while (!isCalibrated({ collected: counted.length, playersCollected: playersCollected() }, required)) {
          const drawn = draw() * weights;
          const player = players.find(({ upTo }) => drawn < upTo);
          if (player === undefined || player.count === fairShareOf(required)) continue;
          player.count += 1;
          counted.push({ skill: player.skill, score: player.skill + luck * draw() });
        }
        const best = counted.map(({ score }) => score).toSorted((one, other) => other - one);
        const reached = intervalRanksOfBar(best.length, 0.2).map((rank) => {
          const bar = best[rank - 1] ?? Number.NaN;
          return counted.reduce((sum, { skill }) => sum + reachOf(skill, bar), 0) / counted.length;
        });
        const [atBest = 1, atWorst = 0] = reached;
        return atBest <= 0.2 && 0.2 <= atWorst;
      });
      expect(share).toBeGreaterThanOrEqual(LEAST_SHARE);
    },
  );
});

describe('a bar that samples set', () => {
  function barOf(samples: readonly number[], rate: number, is: ThresholdDirection): number {
    const best = samples.toSorted((one, other) => easier(one, other, is));
    return best[rankOfBar(samples.length, rate) - 1] ?? Number.NaN;
  }
  const samples = fc.array(whole, { minLength: 1, maxLength: 300 });

  it('the bar is exactly the sample at the target pass rate, if such a sample exists', () => {
    for (const rate of [0.05, 0.25, 0.5, 0.75, 0.95]) {
      for (let hundreds = 1; hundreds <= 200; hundreds += 1) {
        expect(rankOfBar(hundreds * 100, rate)).toBe(Math.round(rate * 100) * hundreds);
      }
    }
    // In floating point, 0.7 x 10 and 0.07 x 100 are not whole numbers.
    expect([rankOfBar(10, 0.7), rankOfBar(100, 0.07), rankOfBar(1, 0.001), rankOfBar(1, 0.999)]).toEqual([7, 7, 1, 1]);
  });

  it('the share of distinct samples that reach the bar is within half a sample of the target', () => {
    const distinct = fc.uniqueArray(whole, { minLength: 1, maxLength: 300 });
    fc.assert(
      fc.property(distinct, target, direction, (scores, rate, is) => {
        const bar = barOf(scores, rate, is);
        const reached = scores.filter((score) => clears(score, bar, is)).length;
        expect(reached).toBe(rankOfBar(scores.length, rate));
        expect(reached === 1 || Math.abs(reached - rate * scores.length) <= 0.5 + 1e-9).toBe(true);
      }),
    );
  });

  it('at least the target share of samples reaches the bar, even if samples tie at the bar', () => {
    const tied = fc.array(fc.nat(3), { minLength: 1, maxLength: 300 });
    fc.assert(
      fc.property(tied, target, direction, (scores, rate, is) => {
        const bar = barOf(scores, rate, is);
        const reached = scores.filter((score) => clears(score, bar, is)).length;
        const tiesAtBar = scores.filter((score) => score === bar).length;
        expect(reached).toBeGreaterThanOrEqual(rankOfBar(scores.length, rate));
        expect(reached - tiesAtBar).toBeLessThan(rankOfBar(scores.length, rate));
      }),
    );
    expect(barOf([1, 2, 2, 2, 2, 2, 2, 2, 2, 2], 0.1, 'higher_is_better')).toBe(2);
  });

  it('a higher target pass rate never makes the bar of samples harder', () => {
    fc.assert(
      fc.property(samples, target, target, direction, (scores, one, other, is) => {
        const [low, high] = [Math.min(one, other), Math.max(one, other)];
        expect(easier(barOf(scores, high, is), barOf(scores, low, is), is)).toBeGreaterThanOrEqual(0);
      }),
    );
  });

  it('scaling, shifting or negating every sample changes the bar in the same way', () => {
    fc.assert(
      fc.property(samples, target, direction, fc.integer({ min: 1, max: 1_000 }), whole, (scores, rate, is, by, to) => {
        const bar = barOf(scores, rate, is);
        const changed = scores.map((score) => by * score + to);
        expect(barOf(changed, rate, is)).toBe(by * bar + to);
        const inMirror = scores.map((score) => -score);
        expect(barOf(inMirror, rate, MIRRORED[is]) + bar).toBe(0);
      }),
    );
  });
});

describe('the interval of a bar', () => {
  /**
   * The chance of each number of successes in n trials with probability twentieths / 20, in units
   * of 1/20^n.
   */
  function waysOf(n: number, twentieths: number): bigint[] {
    let ways = [1n];
    for (let draw = 0; draw < n; draw += 1) {
      const next = [...ways, 0n].map((way) => way * BigInt(20 - twentieths));
      ways.forEach((way, count) => {
        next[count + 1] = (next[count + 1] ?? 0n) + way * BigInt(twentieths);
      });
      ways = next;
    }
    return ways;
  }
  const sum = (ways: readonly bigint[]) => ways.reduce((total, way) => total + way, 0n);
  /** Whether a probability is at most 0.5 %: each side may miss with half of 1 %. */
  const isTail = (ways: readonly bigint[], n: number) => sum(ways) * 200n <= 20n ** BigInt(n);

  it('the interval of a bar is the narrowest whose probability of a miss is at most 0.5 % on each side', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 150 }), fc.integer({ min: 1, max: 19 }), (n, twentieths) => {
        const ways = waysOf(n, twentieths);
        const [best, worst] = intervalRanksOfBar(n, twentieths / 20);
        // The bar of infinitely many samples is between the two ranks if the number of samples that
        // reach it is from `best` to `worst` - 1.
        if (best > 1) expect(isTail(ways.slice(0, best), n)).toBe(true);
        expect(isTail(ways.slice(0, best + 1), n)).toBe(false);
        if (worst < n) expect(isTail(ways.slice(worst), n)).toBe(true);
        if (worst > 1) expect(isTail(ways.slice(worst - 1), n)).toBe(false);
      }),
    );
  });

  it('the interval of a bar contains the bar', () => {
    expect([rankOfBar(200, 0.2), intervalRanksOfBar(200, 0.2)]).toEqual([40, [26, 56]]);
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100_000 }), target, (n, rate) => {
        const [best, worst] = intervalRanksOfBar(n, rate);
        const rank = rankOfBar(n, rate);
        expect(1 <= best && best <= rank && rank <= worst && worst <= n).toBe(true);
      }),
    );
  });

  it('the interval of ten million samples is that of the normal distribution', () => {
    const n = 10_000_000;
    const startedAt = performance.now();
    const [best, worst] = intervalRanksOfBar(n, 0.2);
    expect(performance.now() - startedAt).toBeLessThan(500);
    const reach = 2.575829 * Math.sqrt(n * 0.2 * 0.8);
    expect(Math.abs(best - (n * 0.2 - reach))).toBeLessThan(3);
    expect(Math.abs(worst - (n * 0.2 + reach))).toBeLessThan(3);
  });
});

describe('the fair share', () => {
  it('the fair share of a player is a tenth of the samples by default', () => {
    expect(fairShareOf({ minCalibrationN: 200, minCalibrationPlayers: 20 })).toBe(20);
    expect(fairShareOf({ minCalibrationN: 201, minCalibrationPlayers: 20 })).toBe(21);
    expect(fairShareOf({ minCalibrationN: 200, minCalibrationPlayers: 2 })).toBe(200);
    expect(fairShareOf({ minCalibrationN: 200, minCalibrationPlayers: 1 })).toBeGreaterThanOrEqual(200);
    expect(fairShareOf({ minCalibrationN: 1, minCalibrationPlayers: 1_000 })).toBe(1);
  });

  it('the fair shares of the required players always suffice for a calibration', () => {
    fc.assert(
      fc.property(terms, (required) => {
        const share = fairShareOf(required);
        expect(share * required.minCalibrationPlayers).toBeGreaterThanOrEqual(required.minCalibrationN);
        expect(share - 1).toBeLessThan((2 * required.minCalibrationN) / required.minCalibrationPlayers);
      }),
    );
  });

  it('with enough required players, a fair share is at most half of the samples that reach the bar', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 1, max: 1_000 }), (percent, hundreds) => {
        const rate = percent / 100;
        const minCalibrationN = hundreds * 400;
        const share = fairShareOf({ minCalibrationN, minCalibrationPlayers: Math.ceil(400 / percent) });
        expect(2 * share).toBeLessThanOrEqual(rankOfBar(minCalibrationN, rate) + 1);
      }),
    );
  });

  it('one player’s 180 scores of 200 move the bar no further than a tenth of the samples can', () => {
    const required = { minCalibrationN: 200, minCalibrationPlayers: 20 };
    const share = fairShareOf(required);
    const honest = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 180, maxLength: 180 });
    const forged = fc.array(fc.double({ min: -1, max: 2, noNaN: true }), { minLength: 180, maxLength: 180 });
    fc.assert(
      fc.property(honest, forged, (scores, runs) => {
        const counted = [...scores, ...runs.slice(0, share)];
        const rank = rankOfBar(counted.length, 0.2);
        const bar = counted.toSorted((one, other) => other - one)[rank - 1] ?? Number.NaN;
        // 20 to 40 of the other players' 180 samples reach the bar: 11 to 22 % instead of 20 %.
        expect(scores.filter((score) => score >= bar).length).toBeGreaterThanOrEqual(rank - share);
        expect(scores.filter((score) => score > bar).length).toBeLessThan(rank);
      }),
    );
  });
});

describe('without a fair share per player', () => {
  it.each([
    ['best', 2, 0],
    ['worst', -1, 20],
  ])(
    'without a fair share per player, a player with 180 of the 200 scores, the %s, would set the bar alone',
    (_, run, reached) => {
      const honest = Array.from({ length: 20 }, (__, index) => index / 20);
      const all = [...honest, ...Array<number>(180).fill(run)];
      const bar = all.toSorted((one, other) => other - one)[rankOfBar(all.length, 0.2) - 1] ?? Number.NaN;
      expect(honest.filter((score) => score >= bar)).toHaveLength(reached);
    },
  );
});

describe('a calibration', () => {
  it('a calibration is complete once it has the required samples from the required players', () => {
    const required = { minCalibrationN: 200, minCalibrationPlayers: 20 };
    const isComplete = (collected: number, playersCollected: number) =>
      isCalibrated({ collected, playersCollected }, required);
    expect([isComplete(200, 20), isComplete(199, 20), isComplete(200, 19), isComplete(900, 90)]).toEqual([
      true,
      false,
      false,
      true,
    ]);
  });
});

describe('a distribution', () => {
  const VALID = { p5: 1, p25: 2, p50: 3, p75: 4, p95: 5 };

  it('a distribution of ascending finite percentiles of 500 scores is valid', () => {
    expect(issuesOfDistribution(VALID, 500)).toEqual([]);
  });

  it('a distribution is invalid if it does not ascend, is not finite or has fewer than 500 scores', () => {
    for (const name of ['p5', 'p25', 'p50', 'p75'] as const) {
      const following = { p5: 2, p25: 3, p50: 4, p75: 5 }[name];
      expect(issuesOfDistribution({ ...VALID, [name]: following }, 500), name).toHaveLength(1);
    }
    for (const name of ['p5', 'p25', 'p50', 'p75', 'p95'] as const) {
      expect(issuesOfDistribution({ ...VALID, [name]: Number.NaN }, 500), name).toHaveLength(2);
    }
    expect(issuesOfDistribution({ ...VALID, p95: Number.POSITIVE_INFINITY }, 500)).toHaveLength(1);
    expect(issuesOfDistribution({ ...VALID, p5: Number.NEGATIVE_INFINITY }, 500)).toHaveLength(1);
    for (const size of [499, 500.5, 0, -500, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(issuesOfDistribution(VALID, size), String(size)).toEqual([
        'sample_size must be a whole number of at least 500',
      ]);
    }
  });
});
