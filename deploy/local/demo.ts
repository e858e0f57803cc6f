/**
 * `npm run demo`: plays a partner's game server against the running stack, with nothing but fetch and a small HTTPS server
 * for webhooks, and prints every request and answer. Each run brings a new player, so it works again and again on one stack.
 */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Answer, type Call, chapter, check, DemoFailure, exchange, type Json, ping } from './demo-calls.ts';
import { playRound } from './demo-round.ts';
import { receiveWebhooks } from './demo-webhooks.ts';
import { type DemoProgram, SPRINT, seedDemo } from './seed.ts';
import type { WebhookCa } from './webhook-ca.ts';

type Ready = {
  readonly base_url: string;
  readonly operator_token: string;
  readonly demo?: DemoProgram;
  readonly webhook_ca: WebhookCa;
};

async function playDemo(): Promise<void> {
  const ready = readReady();
  const { origin } = new URL(ready.base_url);
  await ping(origin);
  const demo = ready.demo ?? (await seedDemo({ baseUrl: origin, operatorToken: ready.operator_token }));
  const asOperator = { authorization: `Bearer ${ready.operator_token}` };
  const asPartner = { 'x-api-key': demo.test_key };
  const withKey = () => ({ ...asPartner, 'idempotency-key': randomUUID() });
  const call = (shape: Call) => exchange(origin, shape);

  const run = randomUUID().slice(0, 8);
  const playerRef = `demo-player-${run}`;
  const email = `player-${run}@example.com`;

  await using webhooks = await receiveWebhooks({ call, origin, demo, files: ready.webhook_ca });

  chapter('Laurel: a player opens an account and puts in 20.00 of play money');
  const account = await call({
    method: 'POST',
    path: '/api/operator/accounts',
    headers: asOperator,
    body: { email, date_of_birth: '1990-04-01', jurisdiction: 'US-CA', verification_level: 1 },
    expect: 201,
  });
  const accountPath = `/api/operator/accounts/${account.body.id}`;
  await call({
    method: 'POST',
    path: `${accountPath}/deposits`,
    headers: asOperator,
    body: { environment: 'test', amount: '20.00', reference: `demo-${run}` },
    expect: 201,
  });

  chapter('Partner: link our player to that account');
  await call({
    method: 'POST',
    path: '/v1/players',
    headers: asPartner,
    body: { player_ref: playerRef, email },
    expect: 201,
  });

  chapter('Partner: what may this player attempt?');
  const listChallenges = () =>
    call({ method: 'GET', path: `/v1/challenges?player_ref=${playerRef}`, headers: asPartner, expect: 200 });
  const find = (answer: Answer, id: unknown) => (answer.body.data as Json[]).find((listed) => listed.id === id);
  let challenge = find(await listChallenges(), demo.challenge_id);
  if (challenge === undefined) {
    chapter('Laurel: the challenge of the demo is gone, so an operator opens another');
    const opened = await call({
      method: 'POST',
      path: `/api/operator/programs/${demo.program_id}/challenges`,
      headers: asOperator,
      body: { environment: 'test', status: 'live', integrity_tier: 1, target_pass_rate: 0.2, ...SPRINT },
      expect: 201,
    });
    challenge = opened.body;
  }
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
  check(replayed.headers.get('idempotency-replayed') === 'true', 'a replay must say that it is one');

  chapter('Partner: the authoritative read of the attempt');
  await call({ method: 'GET', path: `/v1/attempts/${attempt.body.id}`, headers: asPartner, expect: 200 });

  chapter('Partner: a prize is paid once per player, so the challenge has left the list');
  check(find(await listChallenges(), challengeId) === undefined, 'a claimed challenge must not be listed');

  chapter('Laurel: the signed receipt of the win');
  await call({
    method: 'GET',
    path: `/api/operator/receipts/${won.body.receipt_id}`,
    headers: asOperator,
    expect: 200,
  });

  chapter("Laurel: the player's wallet, line by line");
  const statement = await call({
    method: 'GET',
    path: `${accountPath}/statement?environment=test`,
    headers: asOperator,
    expect: 200,
  });
  const kinds = (statement.body.data as Json[]).map((line) => line.kind).join(', ');
  const moved = 'a deposit, three fees, a refund and an award must be all that moved';
  check(kinds === 'award, fee, refund, fee, fee, deposit', `${moved}, not: ${kinds}`);

  await playRound({ call, asPartner, asOperator, programId: demo.program_id, run, webhooks });

  chapter('Laurel: every money invariant, checked now');
  const audit = await call({ method: 'GET', path: '/api/operator/audit', headers: asOperator, expect: 200 });
  check(audit.body.ok === true, 'every invariant must hold');

  await webhooks.finish();

  console.log(
    `\nDone: ${playerRef} paid three times, was refunded once, won once, and has ${statement.body.balance} now.`,
  );
}

function readReady(): Ready {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const file = resolve(root, process.env.LAUREL_DATA_DIR ?? '.laurel', 'ready.json');
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Ready;
  } catch {
    throw new DemoFailure(
      `The stack is not running (no ${file}): run \`npm start\` in another terminal and try again.`,
    );
  }
}

try {
  await playDemo();
} catch (error) {
  if (!(error instanceof DemoFailure)) throw error;
  console.error(`\n${error.message}`);
  process.exitCode = 1;
}
