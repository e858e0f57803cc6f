/**
 * `npm run demo`: plays a partner's game server against the running stack, with nothing but fetch, a small HTTPS server
 * for webhooks and polls, and the verifier of receipts, and prints every request and answer. Each run creates new players, so it can run
 * repeatedly on one stack.
 */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { listedKeys, verifyReceipt } from '@laurel/sdk';
import { type Call, chapter, check, DemoFailure, type Json, ping, runCall, runCallQuietly } from './demo-calls.ts';
import { playChallenge } from './demo-challenge.ts';
import { settleByIntegrations } from './demo-integrations.ts';
import { playRound } from './demo-round.ts';
import { seedChallenge } from './demo-seeding.ts';
import { receiveWebhooks } from './demo-webhooks.ts';
import { type DemoProgram, seedDemo } from './seed.ts';
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
  const call = (shape: Call) => runCall(origin, shape);

  const run = randomUUID().slice(0, 8);
  const playerRef = `demo-player-${run}`;
  const email = `player-${run}@example.com`;

  await using webhooks = await receiveWebhooks({ call, origin, demo, files: ready.webhook_ca });

  chapter('Laurel: a sandbox account for the program, with 20.00 of play money');
  const account = await call({
    method: 'POST',
    path: '/api/operator/accounts',
    headers: asOperator,
    body: {
      email,
      date_of_birth: '1990-04-01',
      jurisdiction: 'US-CA',
      verification_level: 1,
      program_id: demo.program_id,
    },
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

  const won = await playChallenge({ call, asPartner, asOperator, demo, playerRef, run, webhooks });

  chapter('Laurel: the signed receipt of the win');
  const receipt = await call({
    method: 'GET',
    path: `/api/operator/receipts/${won.body.receipt_id}`,
    headers: asOperator,
    expect: 200,
  });

  chapter('Anybody: the keys that receipts are signed with, and the receipt held against them');
  const keys = await call({ method: 'GET', path: '/.well-known/laurel-keys.json', headers: {}, expect: 200 });
  const trusted = (await listedKeys(keys.body)) ?? [];
  check(
    (await verifyReceipt(receipt.body, trusted)).kind === 'valid',
    'a receipt must be signed with a key of the list',
  );

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

  await playRound({ call, asPartner, asOperator, programId: demo.program_id, run, webhooks, trusted });

  await settleByIntegrations({ call, asPartner, run, webhooks, files: ready.webhook_ca });

  const callQuietly = (shape: Call) => runCallQuietly(origin, shape);
  await seedChallenge({ call, callQuietly, asOperator, run });

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
