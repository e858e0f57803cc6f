/** An attempt of the demo whose outcome reaches Laurel through an integration. */
import { randomUUID } from 'node:crypto';
import type { AttemptSettledEventData, ChallengeList, Laurel } from '@laurel/sdk';
import { printOnly } from './print.ts';

/** An open attempt, and the score that clears its bar. */
export type PaidAttempt = {
  readonly id: string;
  readonly playerRef: string;
  readonly challengeId: string;
  readonly score: number;
};

/**
 * A new player of the sandbox pays for an attempt at the first challenge that is open to that
 * player.
 */
export async function payAttempt(laurel: Laurel, playerRef: string): Promise<PaidAttempt> {
  await laurel.sandbox.createPlayer({ player_ref: playerRef, funds: '10.00' });
  const listed = await printOnly(
    ({ data }: ChallengeList) => data.map(({ id, name, threshold }) => `${id}  ${name}, bar ${threshold}`),
    () => laurel.challenges.list({ player_ref: playerRef }),
  );
  const [challenge] = listed.data;
  const challengeId = String(challenge?.id);
  const body = { challenge_id: challengeId, player_ref: playerRef };
  const { id } = await laurel.attempts.create(body, { idempotencyKey: randomUUID() });
  return { id, playerRef, challengeId, score: Number(challenge?.threshold) };
}

/** Whether a webhook is about this attempt and says that it won. */
export const hasWon =
  ({ id }: PaidAttempt) =>
  (data: AttemptSettledEventData): boolean =>
    data.attempt_id === id && data.met_threshold;
