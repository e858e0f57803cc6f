/** The demo's challenge: a score one point short, an attempt that was never played, a win, its replay, and the reads that follow. */
import { randomUUID } from 'node:crypto';
import { type Answer, type Call, chapter, check, type Json } from './demo-calls.ts';
import type { Webhooks } from './demo-webhooks.ts';
import { CHALLENGE_DEFAULTS, type DemoProgram, SPRINT } from './seed.ts';

type Demo = {
  readonly call: (shape: Call) => Promise<Answer>;
  readonly asPartner: Record<string, string>;
  readonly asOperator: Record<string, string>;
  readonly demo: DemoProgram;
  readonly playerRef: string;
  readonly run: string;
  readonly webhooks: Webhooks;
};

/** Resolves to the outcome that won. */
export async function playChallenge(on: Demo): Promise<Answer> {
  const { call, asPartner, demo, playerRef, run, webhooks } = on;
  const withKey = () => ({ ...asPartner, 'idempotency-key': randomUUID() });

  chapter('Partner: what may this player attempt?');
  const listChallenges = () =>
    call({ method: 'GET', path: `/v1/challenges?player_ref=${playerRef}`, headers: asPartner, expect: 200 });
  const find = (answer: Answer, id: unknown) => (answer.body.data as Json[]).find((listed) => listed.id === id);
  const challenge = find(await listChallenges(), demo.challenge_id) ?? (await openChallenge(on));
  const challengeId = String(challenge.id);
  const threshold = Number(challenge.threshold);

  const pay = (headers: Record<string, string>) =>
    call({
      method: 'POST',
      path: '/v1/attempts',
      headers,
      body: { challenge_id: challengeId, player_ref: playerRef, metadata: { match: run } },
      expect: 201,
    });
  const report = (attempt: Answer, score: number, headers = withKey()) =>
    call({
      method: 'POST',
      path: `/v1/attempts/${attempt.body.id}/outcome`,
      headers,
      body: { score, evidence: { seed: run } },
      expect: 200,
    });

  chapter('Partner: the player pays for an attempt, and falls one point short');
  const missed = await pay(withKey());
  const lost = await report(missed, threshold - 1);
  check(lost.body.met_threshold === false && lost.body.award === null, 'a score below the bar must not win');
  webhooks.expect({
    what: 'the attempt that fell short',
    event: 'attempt.settled',
    holds: (data) => data.attempt_id === missed.body.id && data.met_threshold === false && data.award === null,
  });

  chapter('Partner: the player pays and never plays; the sandbox lets the hour pass, and the fee comes back');
  const abandoned = await pay(withKey());
  const expired = await call({
    method: 'POST',
    path: `/api/sandbox/attempts/${abandoned.body.id}/expire`,
    headers: asPartner,
    expect: 200,
  });
  check(expired.body.status === 'expired', 'an attempt without an outcome must expire after its hour');
  webhooks.expect({
    what: 'the attempt that expired',
    event: 'attempt.refunded',
    holds: (data) => data.attempt_id === abandoned.body.id && data.amount === Number(expired.body.fee_charged),
  });

  chapter('Partner: the player pays again, and reaches the bar');
  const createHeaders = withKey();
  const attempt = await pay(createHeaders);
  const won = await report(attempt, threshold);
  const award = won.body.award as Json | null;
  check(won.body.met_threshold === true && award?.payout_status === 'paid', 'a score at the bar must win and be paid');
  webhooks.expect({
    what: 'the attempt that won',
    event: 'attempt.settled',
    holds: (data) => data.attempt_id === attempt.body.id && (data.award as Json | null)?.payout_status === 'paid',
  });

  chapter('Partner: our connection broke, so we send the paid request once more, with the same key');
  const replayed = await pay(createHeaders);
  check(replayed.text === attempt.text, 'a replay must answer the same bytes');
  check(replayed.headers.get('idempotency-replayed') === 'true', 'a replay must be marked as one');

  chapter('Partner: the authoritative read of the attempt');
  await call({ method: 'GET', path: `/v1/attempts/${attempt.body.id}`, headers: asPartner, expect: 200 });

  chapter('Partner: a prize is paid once per player, so the challenge has left the list');
  check(find(await listChallenges(), challengeId) === undefined, 'a claimed challenge must not be listed');
  return won;
}

async function openChallenge({ call, asOperator, demo }: Demo): Promise<Json> {
  chapter('Laurel: the challenge of the demo is gone, so an operator opens another');
  const opened = await call({
    method: 'POST',
    path: `/api/operator/programs/${demo.program_id}/challenges`,
    headers: asOperator,
    body: { ...CHALLENGE_DEFAULTS, ...SPRINT },
    expect: 201,
  });
  return opened.body;
}
