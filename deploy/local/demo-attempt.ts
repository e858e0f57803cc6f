/** An attempt of the demo whose outcome reaches Laurel through an integration. */
import { randomUUID } from 'node:crypto';
import type { Answer, Call, Json } from './demo-calls.ts';
import type { ExpectedWebhook } from './demo-webhooks.ts';

/** An open attempt, and the score that clears its bar. */
export type PaidAttempt = {
  readonly id: string;
  readonly playerRef: string;
  readonly challengeId: string;
  readonly score: number;
};

type Partner = {
  readonly call: (shape: Call) => Promise<Answer>;
  readonly asPartner: Record<string, string>;
};

/** A new player of the sandbox pays for an attempt of the first challenge that is open to it. */
export async function payAttempt({ call, asPartner }: Partner, playerRef: string): Promise<PaidAttempt> {
  await call({
    method: 'POST',
    path: '/api/sandbox/players',
    headers: asPartner,
    body: { player_ref: playerRef, funds: '10.00' },
    expect: 201,
  });
  const listed = await call({
    method: 'GET',
    path: `/v1/challenges?player_ref=${playerRef}`,
    headers: asPartner,
    expect: 200,
    summary: ({ data }) => (data as Json[]).map(({ id, name, threshold }) => `${id}  ${name}, bar ${threshold}`),
  });
  const [challenge] = listed.body.data as Json[];
  const challengeId = String(challenge?.id);
  const attempt = await call({
    method: 'POST',
    path: '/v1/attempts',
    headers: { ...asPartner, 'idempotency-key': randomUUID() },
    body: { challenge_id: challengeId, player_ref: playerRef },
    expect: 201,
  });
  return { id: String(attempt.body.id), playerRef, challengeId, score: Number(challenge?.threshold) };
}

/** The webhook of the attempt, once it has won. */
export function wonWebhook(what: string, { id }: PaidAttempt): ExpectedWebhook {
  return { what, event: 'attempt.settled', holds: (data) => data.attempt_id === id && data.met_threshold === true };
}
