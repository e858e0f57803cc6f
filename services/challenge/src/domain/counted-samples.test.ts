import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fairShareOf } from './calibration.ts';
import type { Challenge, ChallengeTerms } from './challenge.ts';
import { type BarSample, type CountedSamples, countSamples, type StoredProgress } from './counted-samples.ts';
import { CALIBRATING_CHALLENGE, LIVE_CHALLENGE } from './example.ts';

const NONE = { recorded: new Set<string>(), samplesOfPlayers: new Map<string, number>() };

function calibrating(terms: Partial<ChallengeTerms> = {}): Challenge {
  return {
    ...CALIBRATING_CHALLENGE,
    terms: { ...CALIBRATING_CHALLENGE.terms, minCalibrationN: 4, minCalibrationPlayers: 2, ...terms },
  };
}

function sampleOf(player: string, score: number, sampleId: string): BarSample {
  return { challengeId: CALIBRATING_CHALLENGE.id, sampleId, player, score };
}

const idsOf = ({ counted }: CountedSamples) => counted.map(({ sampleId }) => sampleId);

describe('a sample', () => {
  it('a sample counts only while its challenge calibrates', () => {
    const samples = [sampleOf('a', 1, 's')];
    expect(countSamples(samples, { challenge: calibrating(), ...NONE })).toEqual({
      counted: samples,
      samplesOfPlayers: new Map([['a', 1]]),
      collected: 1,
      playersCollected: 1,
      isComplete: false,
    });
    for (const challenge of [
      LIVE_CHALLENGE,
      { ...calibrating(), status: 'suspended' },
      { ...calibrating(), status: 'closed' },
    ] as const) {
      expect(countSamples(samples, { challenge, ...NONE })).toMatchObject({ counted: [], isComplete: false });
    }
  });

  it('a sample outside the plausible window does not count', () => {
    const challenge = calibrating({ scoreMin: 0, scoreMax: 10 });
    const samples = [-1, 0, 10, 11].map((score) => sampleOf(`of ${score}`, score, `${score}`));
    expect(idsOf(countSamples(samples, { challenge, ...NONE }))).toEqual(['0', '10']);
  });

  it('a sample counts at most once', () => {
    const samples = [sampleOf('a', 1, 'old'), sampleOf('a', 1, 'new'), sampleOf('a', 1, 'new')];
    const challenge = { ...calibrating(), collected: 1, playersCollected: 1 };
    const stored = { challenge, recorded: new Set(['old']), samplesOfPlayers: new Map([['a', 1]]) };
    expect(countSamples(samples, stored)).toMatchObject({
      samplesOfPlayers: new Map([['a', 2]]),
      collected: 2,
      playersCollected: 1,
    });
  });

  it('a player’s samples count only up to the fair share', () => {
    const challenge = calibrating({ minCalibrationN: 200, minCalibrationPlayers: 20 });
    const samples = Array.from({ length: 180 }, (_, run) => sampleOf('a', 1_000, `${run}`));
    expect(countSamples(samples, { challenge, ...NONE })).toMatchObject({ collected: 20, playersCollected: 1 });
  });

  it('the sample that completes the calibration is the last one that counts', () => {
    const samples = ['a', 'a', 'b', 'b', 'b', 'c'].map((player, index) => sampleOf(player, index, `${index}`));
    const counted = countSamples(samples, { challenge: calibrating(), ...NONE });
    expect(counted).toMatchObject({ collected: 4, playersCollected: 2, isComplete: true });
    expect(idsOf(counted)).toEqual(['0', '1', '2', '3']);
  });
});

describe('laws of counting samples', () => {
  const anySamples = fc.array(
    fc
      .record({ player: fc.nat(4), score: fc.integer({ min: -2, max: 12 }), id: fc.nat(30) })
      .map(({ player, score, id }) => sampleOf(`player ${player}`, score, `sample ${id}`)),
    { maxLength: 40 },
  );
  const anyChallenge = fc
    .record({ minCalibrationN: fc.integer({ min: 1, max: 30 }), minCalibrationPlayers: fc.integer({ min: 1, max: 6 }) })
    .map((terms) => calibrating({ ...terms, scoreMin: 0, scoreMax: 10 }));

  /**
   * What is stored once the samples have been counted; the challenge is live if they completed it.
   */
  function storedAfter(before: StoredProgress, result: CountedSamples): StoredProgress {
    const { collected, playersCollected, isComplete } = result;
    return {
      challenge: { ...before.challenge, collected, playersCollected, status: isComplete ? 'live' : 'calibrating' },
      recorded: new Set([...before.recorded, ...idsOf(result)]),
      samplesOfPlayers: new Map([...before.samplesOfPlayers, ...result.samplesOfPlayers]),
    };
  }

  it('two batches of samples count the same samples as one batch', () => {
    fc.assert(
      fc.property(anyChallenge, anySamples, fc.nat(40), (challenge, samples, cut) => {
        const stored = { challenge, ...NONE };
        const first = countSamples(samples.slice(0, cut), stored);
        const second = countSamples(samples.slice(cut), storedAfter(stored, first));
        const whole = countSamples(samples, stored);
        expect([...idsOf(first), ...idsOf(second)]).toEqual(idsOf(whole));
        expect(second).toMatchObject({ collected: whole.collected, playersCollected: whole.playersCollected });
      }),
    );
  });

  it('counted samples never exceed a player’s fair share', () => {
    fc.assert(
      fc.property(anyChallenge, anySamples, (challenge, samples) => {
        const { counted, samplesOfPlayers, collected, playersCollected } = countSamples(samples, {
          challenge,
          ...NONE,
        });
        const ofPlayers = Map.groupBy(counted, ({ player }) => player);
        expect(samplesOfPlayers).toEqual(new Map([...ofPlayers].map(([player, of]) => [player, of.length])));
        expect([collected, playersCollected]).toEqual([counted.length, ofPlayers.size]);
        for (const ofPlayer of samplesOfPlayers.values())
          expect(ofPlayer).toBeLessThanOrEqual(fairShareOf(challenge.terms));
      }),
    );
  });
});
