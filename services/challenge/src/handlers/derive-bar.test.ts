/**
 * Rungs that are opened live without a threshold: where the bar comes from, and which rungs are
 * refused.
 */

import {
  CalibrationSource,
  type Challenge,
  ChallengeStatus,
  PrizeStructure,
  ThresholdDirection,
} from '@laurel/proto/challenge';
import { expectAccepted } from '@laurel/testing';
import { newId } from '@laurel/values/ids';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { created, PROGRAM, recorded, useHarness } from '../challenge.fixture.ts';

const h = useHarness();

const { HIGHER_IS_BETTER, LOWER_IS_BETTER } = ThresholdDirection;
type Terms = NonNullable<Challenge['terms']>;

/** Opens a rung above this parent, live and without a threshold. */
const derive = (parent: Challenge, terms: Partial<Terms> = {}) =>
  h.open({ ...parent.terms, parentChallengeId: parent.id, ...terms }, { threshold: undefined });

const read = async ({ id }: Challenge) =>
  expectAccepted(await h.challenge.getChallenge({ challengeId: id })).challenge as Challenge;

/**
 * Opens a challenge whose calibration had the scores 10, 20, ..., 100. Half of them clear the bar.
 */
async function observed(terms: Partial<Terms> = {}): Promise<Challenge> {
  const challenge = await h.open(
    { targetPassRate: 0.5, minCalibrationN: 10, minCalibrationPlayers: 1, ...terms },
    { status: ChallengeStatus.CALIBRATING },
  );
  for (let score = 10; score <= 100; score += 10) {
    recorded(await h.report(created(await h.create(challenge.id, 'unlinked')).id, score));
  }
  return read(challenge);
}

async function seeded(terms: Partial<Terms> = {}): Promise<Challenge> {
  const challenge = await h.open({ targetPassRate: 0.5, ...terms }, { status: ChallengeStatus.CALIBRATING });
  expectAccepted(
    await h.challenge.seedChallenge({
      operationId: newId(),
      tenant: PROGRAM,
      challengeId: challenge.id,
      distribution: { p5: 10, p25: 20, p50: 30, p75: 40, p95: 50 },
      sampleSize: 500n,
      keyUse: undefined,
    }),
  );
  return read(challenge);
}

describe('a rung that is opened live without a threshold', () => {
  it.each([
    [HIGHER_IS_BETTER, 60, 90, 100],
    [LOWER_IS_BETTER, 50, 20, 10],
  ])(
    'a rung that is opened live without a threshold takes its bar from its parent’s samples (direction %i)',
    async (thresholdDirection, bar, second, best) => {
      const parent = await observed({ thresholdDirection });
      const ramp = { fullPrizeCents: 2_000n, attemptsSeen: 0n, attemptsRequired: 100n };
      expect(parent).toMatchObject({ threshold: bar, calibrationSource: CalibrationSource.OBSERVED, ramp });
      const rung = await derive(parent, { targetPassRate: 0.2 });
      expect(rung).toMatchObject({
        status: ChallengeStatus.LIVE,
        threshold: second,
        calibrationSource: CalibrationSource.RUNG_DERIVED,
        rung: 2,
        offeredFeeCents: 100n,
        offeredPrizeCents: 500n,
        calibration: undefined,
        ramp,
      });
      expect(await read(rung)).toEqual(rung);
      expect((await derive(parent, { targetPassRate: 0.01 })).threshold).toBe(best);
      expect(
        await h.database.query(
          { text: 'select started_at, attempts, passes from drift_monitors where challenge_id = $1' },
          [rung.id],
        ),
      ).toEqual([{ started_at: rung.createdAt, attempts: 0n, passes: 0n }]);
    },
  );

  it.each([
    [HIGHER_IS_BETTER, 40, 50],
    [LOWER_IS_BETTER, 20, 10],
  ])(
    'a rung that is opened live without a threshold takes its bar from its parent’s percentiles (direction %i)',
    async (thresholdDirection, quarter, least) => {
      const parent = await seeded({ thresholdDirection });
      expect((await derive(parent, { targetPassRate: 0.25 })).threshold).toBe(quarter);
      expect((await derive(parent, { targetPassRate: 0.01 })).threshold).toBe(least);
    },
  );

  it('a rung takes its bar from the percentiles if its parent’s samples did not complete the calibration', async () => {
    const parent = await h.open({ targetPassRate: 0.5 }, { status: ChallengeStatus.CALIBRATING });
    recorded(await h.report(created(await h.create(parent.id, 'unlinked')).id, 7));
    const distribution = { p5: 10, p25: 20, p50: 30, p75: 40, p95: 50 };
    expectAccepted(
      await h.challenge.seedChallenge({
        operationId: newId(),
        tenant: PROGRAM,
        challengeId: parent.id,
        distribution,
        sampleSize: 500n,
        keyUse: undefined,
      }),
    );
    expect((await derive(parent, { targetPassRate: 0.25 })).threshold).toBe(40);
  });

  it('a rung above a derived rung takes its bar from the same scores', async () => {
    const second = await derive(await observed(), { targetPassRate: 0.3 });
    expect(second.threshold).toBe(80);
    const third = await derive(second, { targetPassRate: 0.1 });
    expect(third).toMatchObject({ threshold: 100, rung: 3, calibrationSource: CalibrationSource.RUNG_DERIVED });
    await expect(derive(second, { targetPassRate: 0.3 })).rejects.toThrow('invalid_request');
  });

  it('a derived bar is at least as hard as the bar of the parent', async () => {
    for (const thresholdDirection of [HIGHER_IS_BETTER, LOWER_IS_BETTER]) {
      for (const parent of [await observed({ thresholdDirection }), await seeded({ thresholdDirection })]) {
        const rate = fc.double({ min: 0, max: 0.5, minExcluded: true, maxExcluded: true, noNaN: true });
        await fc.assert(
          fc.asyncProperty(rate, async (targetPassRate) => {
            const { threshold } = await derive(parent, { targetPassRate });
            const [bar, parentsBar] = [threshold ?? Number.NaN, parent.threshold ?? Number.NaN];
            expect(thresholdDirection === HIGHER_IS_BETTER ? bar >= parentsBar : bar <= parentsBar).toBe(true);
          }),
          { numRuns: 25 },
        );
      }
    }
  });

  it('a rung without a threshold is refused if its parent’s bar does not come from scores', async () => {
    const parents = [
      // The operator set this challenge's bar.
      await h.open({ targetPassRate: 0.5 }),
      await h.open({ targetPassRate: 0.5 }, { status: ChallengeStatus.CALIBRATING }),
      await h.open({ targetPassRate: 0.5, prizeStructure: PrizeStructure.TOP_N, topN: 1 }),
    ];
    for (const parent of parents) {
      recorded(await h.report(created(await h.create(parent.id, (await h.player()).ref)).id, 7));
      const terms = { targetPassRate: 0.1, prizeStructure: PrizeStructure.THRESHOLD, topN: undefined };
      await expect(derive(parent, terms)).rejects.toThrow('invalid_request');
      expect(
        await h.database.query({ text: 'select from challenges where parent_challenge_id = $1' }, [parent.id]),
      ).toEqual([]);
    }
  });

  it('a rung without a threshold is refused for another metric or a pass rate that is not lower', async () => {
    const parent = await observed();
    const bad: readonly Partial<Terms>[] = [
      { metricName: 'time' },
      { metricUnit: 'km' },
      { targetPassRate: 0.5 },
      { targetPassRate: 0.6 },
      { scoreMin: 91 },
      { scoreMax: 89 },
      { thresholdDirection: LOWER_IS_BETTER },
      { parentChallengeId: newId() },
    ];
    for (const terms of bad)
      await expect(derive(parent, { targetPassRate: 0.2, ...terms })).rejects.toThrow('invalid_request');
    expect((await derive(parent, { targetPassRate: 0.2, scoreMin: 90, scoreMax: 90 })).threshold).toBe(90);
  });

  it('a rung with its own threshold has a drift monitor and no ramp', async () => {
    const parent = await h.open();
    const rung = await h.open(
      { parentChallengeId: parent.id, metricName: 'time', targetPassRate: 0.9 },
      { threshold: 5 },
    );
    expect(rung).toMatchObject({
      threshold: 5,
      rung: 2,
      calibrationSource: CalibrationSource.OBSERVED,
      offeredPrizeCents: 2_000n,
      ramp: undefined,
    });
  });
});
