/**
 * What operators see of a calibration: the samples, the bar that follows from them, and the
 * interval of the bar.
 */

import { type Challenge, ChallengeStatus, PrizeStructure, ThresholdDirection } from '@laurel/proto/challenge';
import { expectAccepted } from '@laurel/testing';
import { newId } from '@laurel/values/ids';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PROGRAM, useHarness } from '../challenge.fixture.ts';
import { intervalRanksOfBar } from '../domain/calibration.ts';
import { createSamplesHarness, listenedScore } from './samples.fixture.ts';

const h = useHarness();
const s = createSamplesHarness(h);

const read = async ({ id }: Challenge) => expectAccepted(await h.challenge.getCalibration({ challengeId: id }));

/** Records the scores as listened scores, each of a different player. */
const listen = ({ id }: Challenge, scores: readonly number[]) =>
  s.listen(...scores.map((score, index) => listenedScore(id, `player ${index}`, score)));

describe('the calibration of a challenge', () => {
  it('the calibration of a challenge is empty before its first sample', async () => {
    const challenge = await s.open({ minCalibrationN: 200, minCalibrationPlayers: 20 });
    expect(await read(challenge)).toEqual({
      challenge,
      samples: 0n,
      players: 0n,
      fairShare: 20n,
      quantiles: [],
      histogram: [],
      bar: undefined,
      barInterval: undefined,
      seeded: undefined,
      seededSampleSize: 0n,
    });
    expect(await h.challenge.getCalibration({ challengeId: newId() })).toMatchObject({ code: 'not_found' });
  });

  it.each([
    ['higher is better', ThresholdDirection.HIGHER_IS_BETTER, 81, (rank: number) => 101 - rank],
    ['lower is better', ThresholdDirection.LOWER_IS_BETTER, 20, (rank: number) => rank],
  ])(
    'a calibration shows the bar of the samples so far with its interval (%s)',
    async (_, thresholdDirection, bar, scoreOf) => {
      const challenge = await s.open({ minCalibrationN: 200, targetPassRate: 0.2, thresholdDirection });
      await listen(
        challenge,
        Array.from({ length: 100 }, (__, index) => index + 1),
      );
      const [best, worst] = intervalRanksOfBar(100, 0.2);
      const ends = [scoreOf(best), scoreOf(worst)];
      const calibration = await read(challenge);
      expect(calibration).toMatchObject({
        samples: 100n,
        players: 100n,
        quantiles: [1, 5, 10, 25, 50, 75, 90, 95, 99].map((score) => ({ share: score / 100, score })),
        bar,
        barInterval: { low: Math.min(...ends), high: Math.max(...ends) },
      });
      expect(calibration.histogram).toHaveLength(10);
      expect(calibration.histogram.map(({ samples }) => samples)).toEqual(Array.from({ length: 10 }, () => 10n));
      expect([calibration.histogram[0]?.from, calibration.histogram.at(-1)?.to]).toEqual([1, 100]);
    },
  );

  it('the calibration of a live challenge shows the bar that the samples set', async () => {
    const challenge = await s.open();
    await listen(challenge, [1, 2, 3, 4]);
    expect(await read(challenge)).toMatchObject({
      challenge: { status: ChallengeStatus.LIVE, threshold: 4 },
      samples: 4n,
      bar: 4,
      barInterval: { low: 1, high: 4 },
    });
    expect(await read(await h.open())).toMatchObject({ samples: 0n, bar: 100, barInterval: undefined, histogram: [] });
  });

  it('the calibration of a seeded challenge shows the percentiles', async () => {
    const challenge = await s.open();
    await listen(challenge, [5]);
    const distribution = { p5: 1, p25: 2, p50: 3, p75: 4, p95: 5 };
    const seeding = {
      operationId: newId(),
      tenant: PROGRAM,
      challengeId: challenge.id,
      distribution,
      sampleSize: 500n,
    };
    expectAccepted(await h.challenge.seedChallenge({ ...seeding, keyUse: undefined }));
    expect(await read(challenge)).toMatchObject({
      samples: 1n,
      bar: 4,
      barInterval: undefined,
      seeded: distribution,
      seededSampleSize: 500n,
    });
  });

  it('the calibration of a top_n challenge shows all of its scores and its current bar', async () => {
    const challenge = await h.open({ prizeStructure: PrizeStructure.TOP_N, topN: 2 });
    expect(await read(challenge)).toMatchObject({ samples: 0n, fairShare: 0n, bar: undefined });
    const player = await h.player();
    for (const score of [10, 30, 20]) await s.score(challenge.id, player.ref, score);
    expect(await read(challenge)).toMatchObject({
      samples: 3n,
      players: 1n,
      bar: 20,
      barInterval: undefined,
      histogram: [
        { from: 10, to: 20, samples: 1n },
        { from: 20, to: 30, samples: 2n },
      ],
    });
  });
});

describe('a law of histograms', () => {
  it('every sample is in exactly one bin of the histogram', async () => {
    const score = fc.oneof(fc.integer({ min: -5, max: 5 }), fc.double({ noNaN: true, noDefaultInfinity: true }));
    await fc.assert(
      fc.asyncProperty(fc.array(score, { minLength: 1, maxLength: 60 }), async (scores) => {
        const challenge = await s.open({ minCalibrationN: 100 });
        await listen(challenge, scores);
        const { histogram } = await read(challenge);
        const last = histogram.length - 1;
        expect(histogram.map(({ samples }) => samples)).toEqual(
          histogram.map(({ from, to }, bin) => {
            const isInside = (one: number) => one >= from && (one < to || bin === last);
            return BigInt(scores.filter(isInside).length);
          }),
        );
        expect(histogram[last]?.to).toBe(Math.max(...scores));
      }),
      { numRuns: 40 },
    );
  });
});
