import type { Attempt, Challenge, Outcome } from '@laurel/sdk';
import type { ChallengeTerms } from '@laurel/testing';
import { expect } from 'vitest';
import { expectStatus, type Player, type SharedWorld } from '../world.ts';

/** The fields of a challenge that no response shows. */
export const HIDDEN = ['calibration_players', 'min_calibration_players', 'ramp_completed_at'];

/**
 * A distribution whose bar is `SEEDED_BAR`, at a target pass rate of 0.2 where higher is better.
 */
export const SEED = { distribution: { p5: 10, p25: 30, p50: 50, p75: 70, p95: 110 }, sample_size: 500 };
export const SEEDED_BAR = 80;

/** Plays challenges of the world's program in its sandbox. */
export function playIn(world: Pick<SharedWorld, 'partner' | 'newChallenge' | 'newPlayer'>) {
  const start = async (challengeId: string, ref: string): Promise<Attempt> =>
    expectStatus(201, await world.partner.createAttempt({ challenge_id: challengeId, player_ref: ref })).body;
  const report = async (attemptId: string, score: number): Promise<Outcome> =>
    expectStatus(200, await world.partner.reportOutcome(attemptId, { score })).body;
  return {
    start,
    report,
    calibrating: (terms: ChallengeTerms = {}): Promise<Challenge> =>
      world.newChallenge({ status: 'calibrating', threshold: null, ...terms }),
    async listed(challengeId: string, ref = 'anyone'): Promise<Challenge> {
      const all = expectStatus(200, await world.partner.listChallenges(ref, 'all')).body.data;
      return all.find(({ id }) => id === challengeId) ?? expect.fail(`${challengeId} is not listed`);
    },
    /** Plays one attempt from its creation to its outcome. */
    async play(challengeId: string, ref: string, score: number) {
      const attempt = await start(challengeId, ref);
      return { attempt, outcome: await report(attempt.id, score) };
    },
    newPlayers: (count: number): Promise<Player[]> =>
      Promise.all(Array.from({ length: count }, () => world.newPlayer())),
  };
}
