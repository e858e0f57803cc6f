/**
 * How samples complete a calibration. Samples of free attempts are tested through the service, and
 * batches of any size by a law.
 */

import { CalibrationSource, type Challenge, ChallengeStatus, ThresholdDirection } from '@laurel/proto/challenge';
import { expectAccepted } from '@laurel/testing';
import { newId } from '@laurel/values/ids';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { created, recorded, useHarness, verdictOf } from '../challenge.fixture.ts';
import { fairShareOf, rankOfBar } from '../domain/calibration.ts';
import type { BarSample } from '../domain/counted-samples.ts';
import { createSamplesHarness, listenedScore } from '../handlers/samples.fixture.ts';
import { recordSamples } from './record-samples.ts';

const h = useHarness();
const s = createSamplesHarness(h);
const { HIGHER_IS_BETTER, LOWER_IS_BETTER } = ThresholdDirection;

const set = (challenge: Challenge, status: ChallengeStatus) =>
  h.challenge.updateChallengeStatus({ challengeId: challenge.id, status });

describe('a calibration', () => {
  it.each([
    ['higher is better', HIGHER_IS_BETTER, [10, 40, 20, 50, 30, 60, 80, 70, 100, 90], 80],
    ['lower is better', LOWER_IS_BETTER, [10, 40, 20, 50, 30, 60, 80, 70, 100, 90], 30],
    ['higher is better, with ties', HIGHER_IS_BETTER, [5, 5, 7, 5, 5, 7, 5, 9, 5, 7], 7],
    ['lower is better, with ties', LOWER_IS_BETTER, [5, 5, 7, 5, 5, 7, 5, 9, 5, 7], 5],
  ])(
    'the last required score makes a challenge live, with the bar at the target’s quantile (%s)',
    async (_, thresholdDirection, scores, bar) => {
      const terms = { minCalibrationN: 10, minCalibrationPlayers: 3, targetPassRate: 0.3, thresholdDirection };
      const challenge = await s.open(terms);
      const player = await h.player();
      const refs = [player.ref, 'unlinked-1', 'unlinked-2'];
      for (const [index, score] of scores.slice(0, -1).entries()) {
        expect(await s.score(challenge.id, refs[index % 3] ?? '', score)).toMatchObject({ metThreshold: false });
      }
      expect(await s.reread(challenge.id)).toMatchObject({
        status: ChallengeStatus.CALIBRATING,
        threshold: undefined,
        calibration: { collected: 9, required: 10, playersCollected: 3, playersRequired: 3 },
      });

      const last = await s.score(challenge.id, player.ref, scores.at(-1) ?? 0);
      expect(last).toMatchObject({ metThreshold: false, thresholdApplied: undefined, award: undefined });
      expect(await s.reread(challenge.id)).toMatchObject({
        status: ChallengeStatus.LIVE,
        threshold: bar,
        calibrationSource: CalibrationSource.OBSERVED,
        calibration: undefined,
        offeredFeeCents: 100n,
        offeredPrizeCents: 500n,
        ramp: { fullPrizeCents: 2_000n, attemptsSeen: 0n, attemptsRequired: 100n },
      });
      expect(await s.traceOf(challenge.id)).toEqual({
        status: 'live',
        threshold: bar,
        source: 'observed',
        collected: 10,
        players: 3,
        samples: 10,
        sampled_players: 3,
        monitors: 1,
        changes: ['calibrated: calibrating to live'],
      });
      const paid = created(await h.create(challenge.id, player.ref));
      expect(paid.feeCents).toBe(100n);
      expect(recorded(await h.report(paid.id, bar))).toMatchObject({ metThreshold: true, thresholdApplied: bar });
    },
  );

  it('a calibration with enough scores is not complete before it has enough players', async () => {
    const challenge = await s.open({ minCalibrationN: 4, minCalibrationPlayers: 3 });
    for (const ref of ['one', 'two', 'one', 'two', 'one']) await s.score(challenge.id, ref, 10);
    expect((await s.reread(challenge.id)).calibration).toEqual({
      collected: 5,
      required: 4,
      playersCollected: 2,
      playersRequired: 3,
    });
    await s.score(challenge.id, 'three', 20);
    expect(await s.reread(challenge.id)).toMatchObject({ status: ChallengeStatus.LIVE, threshold: 10 });
  });

  it('a calibration counts one account’s scores only up to the fair share, over all of its refs', async () => {
    const challenge = await s.open({ minCalibrationN: 10, minCalibrationPlayers: 4 });
    const player = await h.player();
    const secondRef = `second-${newId()}`;
    expectAccepted(
      await h.wallet.putPlayerLink({ player: { tenant: challenge.tenant, playerRef: secondRef }, email: player.email }),
    );
    for (let run = 0; run < 8; run += 1) await s.score(challenge.id, run % 2 === 0 ? player.ref : secondRef, 1e6);
    expect(await s.traceOf(challenge.id)).toMatchObject({ collected: 5, players: 1, samples: 5 });
  });

  it('one account with 180 of 200 scores does not set the bar of a calibration', async () => {
    const challenge = await s.open({ minCalibrationN: 200, minCalibrationPlayers: 20, targetPassRate: 0.2 });
    const player = await h.player();
    await s.listen(...Array.from({ length: 180 }, () => listenedScore(challenge.id, player.ref, 1_000_000)));
    expect(await s.traceOf(challenge.id)).toMatchObject({ status: 'calibrating', collected: 20, players: 1 });
    const others = Array.from({ length: 180 }, (_, index) =>
      listenedScore(challenge.id, `other ${index % 19}`, index + 1),
    );
    await s.listen(...others);
    // The bar is the 40th best of 200 samples: the 20 counted samples of this account and the 20
    // best other samples reach the bar.
    expect(await s.reread(challenge.id)).toMatchObject({ status: ChallengeStatus.LIVE, threshold: 161 });
  });

  it('a calibration never counts a score outside the plausible window', async () => {
    const challenge = await s.open({ scoreMin: 0, scoreMax: 100 });
    const attempt = created(await h.create(challenge.id, 'cheat'));
    expect(verdictOf(await h.report(attempt.id, 101))).toBe('score_out_of_range');
    expect(verdictOf(await h.report(attempt.id, 100))).toBe('score_out_of_range');
    await s.listen(listenedScore(challenge.id, 'cheat', -1));
    expect((await s.reread(challenge.id)).calibration).toMatchObject({ collected: 0, playersCollected: 0 });
    await s.score(challenge.id, 'honest', 100);
    expect((await s.reread(challenge.id)).calibration).toMatchObject({ collected: 1, playersCollected: 1 });
  });
});

describe('a free attempt', () => {
  it('a free attempt that was created before its challenge went live settles without a bar', async () => {
    const challenge = await s.open();
    const early = created(await h.create(challenge.id, 'early'));
    for (const [index, ref] of ['one', 'two', 'one', 'two'].entries()) await s.score(challenge.id, ref, index);
    const before = await s.traceOf(challenge.id);
    expect(before).toMatchObject({ status: 'live', threshold: 3, samples: 4 });
    expect(recorded(await h.report(early.id, 1e9))).toMatchObject({
      metThreshold: false,
      thresholdApplied: undefined,
      award: undefined,
    });
    expect(await s.traceOf(challenge.id)).toEqual(before);
  });

  it('the score of a free attempt at a suspended challenge is not a sample', async () => {
    const challenge = await s.open();
    const attempt = created(await h.create(challenge.id, 'one'));
    expectAccepted(await set(challenge, ChallengeStatus.SUSPENDED));
    recorded(await h.report(attempt.id, 5));
    expectAccepted(await set(challenge, ChallengeStatus.LIVE));
    expect((await s.reread(challenge.id)).calibration).toMatchObject({ collected: 0 });
  });
});

describe('a calibration of many samples', () => {
  const SAMPLES = 40_000;
  const BATCH = 5_000;
  // Returns the score of the sample with this index, the same in each run.
  const scattered = (index: number) => (index * 7_919) % 39_989;

  it.each([
    ['scattered', scattered],
    ['few different ones', (index: number) => scattered(index) % 7],
    ['rising', (index: number) => index],
    ['falling', (index: number) => -index],
  ])('the bar that is found from the anchor is the bar of the sorted samples (%s)', async (_, scoreOf) => {
    const { id } = await s.open({ minCalibrationN: SAMPLES, minCalibrationPlayers: 1, targetPassRate: 0.3 });
    const samples = Array.from({ length: SAMPLES }, (__, index): BarSample => {
      return { challengeId: id, sampleId: newId(), player: `ref:${index % 9}`, score: scoreOf(index) };
    });
    for (let from = 0; from < SAMPLES; from += BATCH) {
      const batch = samples.slice(from, from + BATCH);
      await h.database.transaction((tx) => recordSamples(tx, batch, { source: 'observed', now: h.clock() }));
      const isAnchored = from + BATCH >= 10_000;
      expect(await anchorOf(id)).toMatchObject({ is_anchored: isAnchored, is_counted: isAnchored });
    }
    const sorted = samples.map(({ score }) => score).sort((one, other) => other - one);
    expect(await s.traceOf(id)).toMatchObject({ status: 'live', threshold: sorted[0.3 * SAMPLES - 1] });
  });

  async function anchorOf(challengeId: string): Promise<object | undefined> {
    const text = `
      select k.anchor_score is not null as is_anchored,
        (k.anchor_below, k.anchor_at_or_below) = (
          select count(*) filter (where s.score < k.anchor_score), count(*) filter (where s.score <= k.anchor_score)
          from bar_samples s where s.challenge_id = k.challenge_id) and k.anchor_score is not null as is_counted
      from calibrations k where k.challenge_id = $1`;
    return (await h.database.query<object>({ text }, [challengeId]))[0];
  }
});

describe('a law of calibrations', () => {
  const TERMS = fc.record({
    minCalibrationN: fc.integer({ min: 1, max: 40 }),
    minCalibrationPlayers: fc.integer({ min: 1, max: 5 }),
    targetPassRate: fc.double({ min: 0.01, max: 0.99, noNaN: true }),
    thresholdDirection: fc.constantFrom(HIGHER_IS_BETTER, LOWER_IS_BETTER),
  });
  const RUN = fc.record({
    player: fc.nat(6).map((player) => `ref:${player}`),
    score: fc.oneof(fc.integer({ min: 0, max: 9 }), fc.double({ noNaN: true, noDefaultInfinity: true })),
  });

  it('a calibration always sets the bar of the sorted samples', async () => {
    await fc.assert(
      fc.asyncProperty(
        TERMS,
        fc.array(RUN, { maxLength: 80 }),
        fc.integer({ min: 1, max: 30 }),
        async (terms, runs, size) => {
          const { id } = await s.open(terms);
          const samples = runs.map((run): BarSample => ({ ...run, challengeId: id, sampleId: newId() }));
          for (let from = 0; from < samples.length; from += size) {
            const batch = samples.slice(from, from + size);
            await h.database.transaction((tx) => recordSamples(tx, batch, { source: 'listened', now: h.clock() }));
          }
          const expected = calibrateInMemory(samples, terms);
          expect(await s.traceOf(id)).toMatchObject({
            status: expected.bar === null ? 'calibrating' : 'live',
            threshold: expected.bar,
            ...(expected.scores.length > 0 && { collected: expected.scores.length, players: expected.players }),
            samples: expected.scores.length,
            sampled_players: expected.players,
          });
        },
      ),
      { numRuns: 40 },
    );
  });

  /** Calibrates from samples that come one by one, and finds the bar by sorting them. */
  function calibrateInMemory(
    samples: readonly BarSample[],
    terms: {
      minCalibrationN: number;
      minCalibrationPlayers: number;
      targetPassRate: number;
      thresholdDirection: number;
    },
  ) {
    const scores: number[] = [];
    const ofPlayers = new Map<string, number>();
    for (const { player, score } of samples) {
      if (scores.length >= terms.minCalibrationN && ofPlayers.size >= terms.minCalibrationPlayers) break;
      if ((ofPlayers.get(player) ?? 0) === fairShareOf(terms)) continue;
      ofPlayers.set(player, (ofPlayers.get(player) ?? 0) + 1);
      scores.push(score);
    }
    const isLive = scores.length >= terms.minCalibrationN && ofPlayers.size >= terms.minCalibrationPlayers;
    const best = scores.toSorted((one, other) =>
      terms.thresholdDirection === HIGHER_IS_BETTER ? other - one : one - other,
    );
    const bar = isLive ? (best[rankOfBar(scores.length, terms.targetPassRate) - 1] ?? null) : null;
    return { scores, players: ofPlayers.size, bar };
  }
});
