/**
 * Adds samples to calibrating challenges, for the tests of one file: listened scores, and scores of
 * free attempts.
 */

import {
  type Challenge,
  ChallengeStatus,
  type ChallengeTerms,
  type ListenedScore,
  ListenedScoreStatus,
} from '@laurel/proto/challenge';
import { expectAccepted } from '@laurel/testing';
import { newId } from '@laurel/values/ids';
import { created, type Harness, PROGRAM, recorded } from '../challenge.fixture.ts';

export interface SamplesHarness {
  /**
   * Opens a calibrating challenge with a target pass rate of one in four. Four scores of two
   * players complete the calibration, unless `terms` differ.
   */
  open(terms?: Partial<ChallengeTerms>): Promise<Challenge>;
  reread(challengeId: string): Promise<Challenge>;
  /** Reports the score of a new free attempt. */
  score(challengeId: string, playerRef: string, score: number): Promise<ReturnType<typeof recorded>>;
  listen(...scores: readonly ListenedScore[]): Promise<readonly ListenedScoreStatus[]>;
  /** Returns what is stored about a calibration, and how its challenge went live. */
  traceOf(challengeId: string): Promise<object>;
}

export const { RECORDED, NOT_COUNTED } = ListenedScoreStatus;

export function createSamplesHarness(h: Harness): SamplesHarness {
  return {
    open: (terms = {}) =>
      h.open(
        { minCalibrationN: 4, minCalibrationPlayers: 2, targetPassRate: 0.25, ...terms },
        { status: ChallengeStatus.CALIBRATING },
      ),
    async reread(challengeId) {
      const { challenge } = expectAccepted(await h.challenge.getChallenge({ challengeId }));
      if (challenge === undefined) throw new Error('no challenge in the answer');
      return challenge;
    },
    async score(challengeId, playerRef, score) {
      const attempt = created(await h.create(challengeId, playerRef));
      return recorded(await h.report(attempt.id, score));
    },
    async listen(...scores) {
      const { statuses } = expectAccepted(await h.challenge.recordListenedScores({ scores: [...scores] }));
      return statuses;
    },
    async traceOf(challengeId) {
      const [row] = await h.database.query<object>(TRACE, [challengeId]);
      return row ?? {};
    },
  };
}

// Counts the samples again, so that tests can compare the counts with the counters.
const TRACE = {
  text: `
select c.status, c.threshold, c.calibration_source as source, k.collected::int, k.players::int,
  (select count(*)::int from bar_samples s where s.challenge_id = c.id) as samples,
  (select count(distinct s.player)::int from bar_samples s where s.challenge_id = c.id) as sampled_players,
  (select count(*)::int from drift_monitors m where m.challenge_id = c.id) as monitors,
  array(select t.cause || ': ' || t.from_status || ' to ' || t.to_status from status_changes t
        where t.challenge_id = c.id order by t.id) as changes
from challenges c left join calibrations k on k.challenge_id = c.id where c.id = $1`,
};

export function listenedScore(
  challengeId: string,
  playerRef: string,
  score: number,
  sampleId = newId(),
): ListenedScore {
  return { sampleId, tenant: PROGRAM, challengeId, playerRef, score };
}
