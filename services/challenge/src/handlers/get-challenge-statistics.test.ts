/** What a program's developer sees of a challenge's scores, its pass rate, its ramp and its bar. */

import {
  type Challenge,
  ChallengeStatus,
  type GetChallengeStatisticsResponse,
  PrizeStructure,
  ScoreSource,
  ThresholdDirection,
} from '@laurel/proto/challenge';
import { expectAccepted } from '@laurel/testing';
import { newId } from '@laurel/values/ids';
import { describe, expect, it } from 'vitest';
import { PROGRAM, useHarness } from '../challenge.fixture.ts';
import { passRateConfidenceInterval } from '../domain/pass-rate.ts';
import { everyNth, openWithoutCap, usePlay } from '../workers/monitor.fixture.ts';
import { createSamplesHarness, listenedScore } from './samples.fixture.ts';

const h = useHarness();
const s = createSamplesHarness(h);
const { play, attempts, settle } = usePlay(h);

async function read({ id }: Challenge, bins = 30): Promise<GetChallengeStatisticsResponse> {
  const request = { programId: PROGRAM.programId, challengeId: id, bins, anyProgram: false };
  return expectAccepted(await h.challenge.getChallengeStatistics(request));
}

const countsOf = ({ scores }: GetChallengeStatisticsResponse) => scores?.bins.map(({ samples }) => Number(samples));

describe('the statistics of a challenge', () => {
  it('the statistics of a challenge without scores have no bins, no rate and no bar', async () => {
    const challenge = await s.open();
    expect(await read(challenge)).toEqual({
      drift: expectAccepted(await h.challenge.getDrift({ challengeId: challenge.id })),
      scores: { source: ScoreSource.BAR_SAMPLES, count: 0n, isComplete: true, bins: [] },
      passRate: { attempts: 0n, passes: 0n, low: undefined, high: undefined, at: h.clock() },
      passRates: [],
      barSoFar: undefined,
      ramp: undefined,
      rampCompletedAt: undefined,
    });
  });

  it.each([
    ['higher is better', ThresholdDirection.HIGHER_IS_BETTER],
    ['lower is better', ThresholdDirection.LOWER_IS_BETTER],
  ])(
    'the statistics of a calibrating challenge show its samples and the bar so far (%s)',
    async (_, thresholdDirection) => {
      const challenge = await s.open({ minCalibrationN: 200, targetPassRate: 0.2, thresholdDirection });
      const scores = Array.from({ length: 100 }, (__, index) => index + 1);
      await s.listen(...scores.map((score, index) => listenedScore(challenge.id, `player ${index}`, score)));
      const statistics = await read(challenge, 10);
      expect(statistics.scores).toMatchObject({ source: ScoreSource.BAR_SAMPLES, count: 100n, isComplete: true });
      expect(countsOf(statistics)).toEqual(Array.from({ length: 10 }, () => 10));
      const { bar, histogram } = expectAccepted(await h.challenge.getCalibration({ challengeId: challenge.id }));
      expect(statistics.barSoFar).toBe(bar);
      expect(statistics.scores?.bins).toEqual(histogram);
    },
  );

  it('the statistics of a challenge with a bar show its samples until a paid attempt has a score', async () => {
    const challenge = await s.open();
    for (const score of [1, 2, 3, 4]) await s.listen(listenedScore(challenge.id, `player ${score}`, score));
    const live = await s.reread(challenge.id);
    expect(live).toMatchObject({ status: ChallengeStatus.LIVE, threshold: 4 });
    expect(await read(live)).toMatchObject({
      scores: { source: ScoreSource.BAR_SAMPLES, count: 4n },
      barSoFar: undefined,
    });
    const player = await h.player();
    await s.score(challenge.id, player.ref, 3.5);
    // An open attempt has no score.
    await h.create(challenge.id, player.ref);
    expect((await read(live)).scores).toEqual({
      source: ScoreSource.PAID_ATTEMPTS,
      count: 1n,
      isComplete: true,
      bins: [{ from: 3.5, to: 3.5, samples: 1n }],
    });
  });

  it('the statistics of a challenge are the same for an operator as for its developer', async () => {
    const challenge = await openWithoutCap(h);
    await play(challenge.id, everyNth(60, 5));
    const request = { programId: '', challengeId: challenge.id, bins: 30, anyProgram: true };
    expect(expectAccepted(await h.challenge.getChallengeStatistics(request))).toEqual(await read(challenge));
    const unknown = await h.challenge.getChallengeStatistics({ ...request, challengeId: newId() });
    expect(unknown).toMatchObject({ code: 'not_found' });
    // A caller that forgets the program does not become an operator.
    await expect(h.challenge.getChallengeStatistics({ ...request, anyProgram: false })).rejects.toThrow();
  });

  it('the statistics of a top_n challenge show every score and no pass rate', async () => {
    const challenge = await h.open({ prizeStructure: PrizeStructure.TOP_N, topN: 2 });
    const player = await h.player();
    for (const score of [10, 30, 20]) await s.score(challenge.id, player.ref, score);
    const statistics = await read(challenge, 5);
    expect(statistics).toMatchObject({
      scores: { source: ScoreSource.BAR_SAMPLES, count: 3n, isComplete: true },
      passRate: { attempts: 0n, low: undefined },
      barSoFar: undefined,
      ramp: undefined,
    });
    expect(countsOf(statistics)).toEqual([1, 0, 1, 0, 1]);
  });

  it('the statistics of a challenge have the pass rate that its monitor counted at each reading', async () => {
    const challenge = await openWithoutCap(h);
    await play(challenge.id, everyNth(60, 5));
    const statistics = await read(challenge);
    const interval = passRateConfidenceInterval({ attempts: 60, passes: 12 });
    expect(statistics.passRate).toEqual({ attempts: 60n, passes: 12n, ...interval, at: h.clock() });
    expect(statistics.passRates).toEqual(
      statistics.drift?.readings.map(({ attempts: counted, passes, readAt }) => ({
        attempts: counted,
        passes,
        ...passRateConfidenceInterval({ attempts: Number(counted), passes: Number(passes) }),
        at: readAt,
      })),
    );
    expect(statistics.passRates.length).toBeGreaterThan(0);
    expect(statistics.scores).toMatchObject({ source: ScoreSource.PAID_ATTEMPTS, count: 60n });
    expect(statistics.drift).toEqual(expectAccepted(await h.challenge.getDrift({ challengeId: challenge.id })));
  });

  it('the statistics of a challenge show its ramp, even after the completion', async () => {
    const challenge = await s.open({ dailyAttemptCap: 100_000, targetPassRate: 0.2 });
    const distribution = { p5: 10, p25: 20, p50: 30, p75: 95, p95: 100 };
    const seeding = { operationId: newId(), tenant: PROGRAM, challengeId: challenge.id, distribution };
    expectAccepted(await h.challenge.seedChallenge({ ...seeding, sampleSize: 500n, keyUse: undefined }));
    const before = await read(challenge);
    expect(before).toMatchObject({
      ramp: { fullPrizeCents: 2_000n, attemptsSeen: 0n, attemptsRequired: 100n },
      rampCompletedAt: undefined,
      drift: { challenge: { offeredPrizeCents: 500n } },
    });
    await settle(await attempts(challenge.id, 100), everyNth(100, 5));
    await h.server.sweepOnce();
    expect(await read(challenge)).toMatchObject({
      ramp: { fullPrizeCents: 2_000n, attemptsSeen: 100n, attemptsRequired: 100n },
      rampCompletedAt: h.clock(),
      drift: {
        challenge: { offeredPrizeCents: 2_000n, ramp: undefined },
        changes: [{ cause: 'seeded' }, { cause: 'ramp' }],
      },
    });
  });
});
