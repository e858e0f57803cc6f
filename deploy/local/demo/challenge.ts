/**
 * The demo's challenge: a score one point short, an attempt that was never played, a win, its
 * replay, and the reads that follow.
 */
import { randomUUID } from 'node:crypto';
import type { Operator } from '@laurel/local-infrastructure/running-stack';
import type { Challenge, Laurel, Outcome } from '@laurel/sdk';
import { CHALLENGE_DEFAULTS, type DemoProgram, SPRINT_CHALLENGE } from '../stack/seed.ts';
import { chapter, check } from './print.ts';
import type { Webhooks } from './webhooks.ts';

type Demo = {
  readonly laurel: Laurel;
  readonly operator: Operator;
  readonly demo: DemoProgram;
  readonly playerRef: string;
  readonly run: string;
  readonly webhooks: Webhooks;
};

/** Resolves to the outcome that won. */
export async function playChallenge(on: Demo): Promise<Outcome> {
  const { laurel, demo, playerRef, run, webhooks } = on;

  chapter('Partner: what may this player attempt?');
  const find = async (id: string) => {
    const { data } = await laurel.challenges.list({ player_ref: playerRef });
    return data.find((listed) => listed.id === id);
  };
  const challenge = (await find(demo.challenge_id)) ?? (await openChallenge(on));
  const threshold = Number(challenge.threshold);

  const pay = (idempotencyKey: string) => {
    const body = { challenge_id: challenge.id, player_ref: playerRef, metadata: { match: run } };
    return laurel.attempts.create(body, { idempotencyKey });
  };
  const report = (attemptId: string, score: number) =>
    laurel.attempts.reportOutcome(attemptId, { score, evidence: { seed: run } });

  chapter('Partner: the player pays for an attempt, and falls one point short');
  const missed = await pay(randomUUID());
  const lost = await report(missed.id, threshold - 1);
  check(!lost.met_threshold && lost.award === null, 'a score below the bar must not win');
  webhooks.expect(
    'the attempt that fell short',
    'attempt.settled',
    (data) => data.attempt_id === missed.id && !data.met_threshold && data.award === null,
  );

  chapter('Partner: the player pays and never plays; the sandbox lets the hour pass, and the fee comes back');
  const abandoned = await pay(randomUUID());
  const expired = await laurel.sandbox.expireAttempt(abandoned.id);
  check(expired.status === 'expired', 'an attempt without an outcome must expire after its hour');
  webhooks.expect(
    'the attempt that expired',
    'attempt.refunded',
    (data) => data.attempt_id === abandoned.id && data.amount === Number(expired.fee_charged),
  );

  chapter('Partner: the player pays again, and reaches the bar');
  const key = randomUUID();
  const attempt = await pay(key);
  const won = await report(attempt.id, threshold);
  check(won.met_threshold && won.award?.payout_status === 'paid', 'a score at the bar must win and be paid');
  webhooks.expect(
    'the attempt that won',
    'attempt.settled',
    (data) => data.attempt_id === attempt.id && data.award?.payout_status === 'paid',
  );

  chapter('Partner: our connection broke, so we send the paid request once more, with the same key');
  const again = await pay(key).withResponse();
  check(JSON.stringify(again.data) === JSON.stringify(attempt), 'a replay must answer the same');
  check(again.replayed, 'a replay must be marked as one');

  chapter('Partner: the authoritative read of the attempt');
  await laurel.attempts.retrieve(attempt.id);

  chapter('Partner: a prize is paid once per player, so the challenge has left the list');
  check((await find(challenge.id)) === undefined, 'a claimed challenge must not be listed');
  return won;
}

async function openChallenge({ operator, demo }: Demo): Promise<Pick<Challenge, 'id' | 'threshold'>> {
  chapter('Laurel: the challenge of the demo is gone, so an operator opens another');
  const path = `/api/operator/programs/${demo.program_id}/challenges`;
  const body = { ...CHALLENGE_DEFAULTS, ...SPRINT_CHALLENGE };
  const { id } = await operator({ method: 'POST', path, body, expect: 201 });
  return { id: String(id), threshold: SPRINT_CHALLENGE.threshold };
}
