/**
 * `npm run demo` plays a partner's game server against the running stack, with @laurel/sdk and a
 * small HTTPS server for webhooks and polls. It prints every request and response.
 * It also plays Laurel's operator, who has no SDK. Each run creates new players, so it can be
 * repeated on one stack.
 */
import { randomUUID } from 'node:crypto';
import {
  callStack,
  createOperator,
  findRunningStack,
  type Json,
  StackFailure,
} from '@laurel/local-infrastructure/running-stack';
import { Laurel, LaurelError, listedKeys, verifyReceipt } from '@laurel/sdk';
import { type DemoProgram, seedDemo } from '../stack/seed.ts';
import type { WebhookCa } from '../stack/webhook-ca.ts';
import { playChallenge } from './challenge.ts';
import { settleByIntegrations } from './integrations.ts';
import { chapter, check, fetchAndPrint } from './print.ts';
import { playRound } from './round.ts';
import { seedChallenge } from './seeding.ts';
import { receiveWebhooks } from './webhooks.ts';

type Known = { readonly demo?: DemoProgram; readonly webhook_ca: WebhookCa };

async function playDemo(): Promise<void> {
  const stack = await findRunningStack<Known>();
  const { origin, webhook_ca: files } = stack;
  const demo = stack.demo ?? (await seedDemo({ baseUrl: origin, operatorToken: stack.operator_token }));
  const operator = createOperator(stack, fetchAndPrint);
  const connect = (apiKey: string) => new Laurel({ apiKey, baseUrl: origin, fetch: fetchAndPrint });
  const laurel = connect(demo.test_key);

  const run = randomUUID().slice(0, 8);
  const playerRef = `demo-player-${run}`;
  const email = `player-${run}@example.com`;

  await using webhooks = await receiveWebhooks({ origin, demo, files });

  chapter('Laurel: a sandbox account for the program, with 20.00 of play money');
  const account = await operator({
    method: 'POST',
    path: '/api/operator/accounts',
    body: {
      email,
      date_of_birth: '1990-04-01',
      jurisdiction: 'US-CA',
      verification_level: 1,
      program_id: demo.program_id,
    },
    expect: 201,
  });
  const accountPath = `/api/operator/accounts/${account.id}`;
  const deposit = { environment: 'test', amount: '20.00', reference: `demo-${run}` };
  await operator({ method: 'POST', path: `${accountPath}/deposits`, body: deposit, expect: 201 });

  chapter('Partner: link our player to that account');
  await laurel.players.link({ player_ref: playerRef, email });

  const won = await playChallenge({ laurel, operator, demo, playerRef, run, webhooks });

  chapter('Laurel: the signed receipt of the win');
  const receipt = await operator({ method: 'GET', path: `/api/operator/receipts/${won.receipt_id}`, expect: 200 });

  chapter('Anybody: the keys that sign receipts, and the receipt verified with them');
  const keys = await callStack(
    origin,
    { method: 'GET', path: '/.well-known/laurel-keys.json', expect: 200 },
    fetchAndPrint,
  );
  const trusted = (await listedKeys(keys.body)) ?? [];
  const { kind } = await verifyReceipt(receipt, trusted);
  check(kind === 'valid', 'a receipt must be signed with a key of the list');

  chapter("Laurel: the player's wallet, line by line");
  const path = `${accountPath}/statement?environment=test`;
  const statement = await operator({ method: 'GET', path, expect: 200 });
  const kinds = (statement.data as Json[]).map((line) => line.kind).join(', ');
  const moved = 'a deposit, three fees, a refund and an award must be all that moved';
  check(kinds === 'award, fee, refund, fee, fee, deposit', `${moved}, not: ${kinds}`);

  await playRound({ laurel, operator, programId: demo.program_id, run, webhooks, trusted });

  await settleByIntegrations({ laurel, origin, run, webhooks, files });

  await seedChallenge({ operator, connect, run });

  chapter('Laurel: every money invariant, checked now');
  const audit = await operator({ method: 'GET', path: '/api/operator/audit', expect: 200 });
  check(audit.ok === true, 'every invariant must hold');

  await webhooks.finish();

  console.log(`\nDone: ${playerRef} paid three times, was refunded once, won once, and has ${statement.balance} now.`);
}

try {
  await playDemo();
} catch (error) {
  // Any other error is a defect of the demo itself.
  if (!(error instanceof StackFailure || error instanceof LaurelError)) throw error;
  console.error(`\n${error.message}`);
  process.exitCode = 1;
}
