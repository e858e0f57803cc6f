/** Settled paid attempts for the tests of the drift monitor, on the database of a harness. */

import { type Challenge, ChallengeStatus, type GetDriftResponse } from '@laurel/proto/challenge';
import { expectAccepted } from '@laurel/testing';
import { newId, newOwnedId } from '@laurel/values/ids';
import { created, type Harness, PROGRAM, recorded } from '../challenge.fixture.ts';

/** The number of items in one call. */
const PAGE = 100;

interface Play {
  /** Open attempts in the order of their ids, each of a new player. */
  attempts(challengeId: string, count: number): Promise<readonly string[]>;
  /**
   * Settles the attempts: those that pass score the bar, the others 0. Those of one page are
   * counted in id order.
   */
  settle(attemptIds: readonly string[], passed: readonly boolean[]): Promise<void>;
  /** Plays these outcomes, each by its own player, and counts them. */
  play(challengeId: string, passed: readonly boolean[]): Promise<void>;
  drift(challengeId: string): Promise<GetDriftResponse>;
  /** Outcomes that the monitor of the challenge has yet to count. */
  waiting(challengeId: string): Promise<number>;
}

/** Plays attempts at challenges that have a bar of 100 and no cap. */
export function usePlay(h: Harness): Play {
  const play: Play = {
    async attempts(challengeId, count) {
      const players = await Promise.all(Array.from({ length: count }, () => h.player()));
      const ids = Array.from({ length: count }, () => newOwnedId('challenge')).sort();
      for (let start = 0; start < count; start += PAGE) {
        const creations = ids.slice(start, start + PAGE).map((attemptId, index) => ({
          attemptId,
          tenant: PROGRAM,
          contestId: challengeId,
          playerRef: players[start + index]?.ref ?? '',
          metadataJson: '{}',
          requestId: '',
          keyUse: undefined,
        }));
        const { results } = expectAccepted(await h.challenge.createAttempts({ creations }));
        for (const { result } of results) created(result);
      }
      return ids;
    },
    async settle(attemptIds, passed) {
      for (let start = 0; start < attemptIds.length; start += PAGE) {
        const reports = attemptIds.slice(start, start + PAGE).map((attemptId, index) => ({
          operationId: newId(),
          attemptId,
          tenant: PROGRAM,
          score: passed[start + index] === true ? 100 : 0,
          evidenceJson: '',
          requestId: '',
          keyUse: undefined,
        }));
        const { results } = expectAccepted(await h.challenge.reportOutcomes({ reports }));
        for (const { result } of results) recorded(result);
      }
    },
    async play(challengeId, passed) {
      await play.settle(await play.attempts(challengeId, passed.length), passed);
      await h.server.sweepOnce();
    },
    drift: async (challengeId) => expectAccepted(await h.challenge.getDrift({ challengeId })),
    async waiting(challengeId) {
      const [row] = await h.database.query<{ waiting: bigint }>(
        {
          text: `
            select count(*) as waiting
            from unmonitored_outcomes cross join unnest(challenge_ids) as w (challenge_id) where w.challenge_id = $1`,
        },
        [challengeId],
      );
      return Number(row?.waiting);
    },
  };
  return play;
}

/** This many outcomes, of which every n-th passes. */
export const everyNth = (count: number, nth: number): readonly boolean[] =>
  Array.from({ length: count }, (_, index) => index % nth === nth - 1);

export const all = (passed: boolean, count: number): readonly boolean[] => Array<boolean>(count).fill(passed);

export const openWithoutCap = (h: Harness, terms: Parameters<Harness['open']>[0] = {}): Promise<Challenge> =>
  h.open({ dailyAttemptCap: 100_000, ...terms });

/**
 * Opens a challenge that a partner's percentiles seeded, with a bar of 100, a prize of 20.00 and a
 * tier's cap of 5.00. Returns its id.
 */
export async function openSeeded(h: Harness): Promise<string> {
  const { id } = await h.open(
    { dailyAttemptCap: 100_000, targetPassRate: 0.25 },
    { status: ChallengeStatus.CALIBRATING },
  );
  const distribution = { p5: 20, p25: 40, p50: 60, p75: 100, p95: 120 };
  const seeding = { operationId: newId(), tenant: PROGRAM, challengeId: id, distribution, sampleSize: 500n };
  expectAccepted(await h.challenge.seedChallenge({ ...seeding, keyUse: undefined }));
  return id;
}
