/** Attempts as operators read them. All other services are scripted. */

import { refused } from '@laurel/errors';
import { AttemptServiceService, AttemptStatus } from '@laurel/proto/attempts';
import { ChallengeServiceService } from '@laurel/proto/challenge';
import { Environment } from '@laurel/proto/common';
import { PayoutStatus, WalletServiceService } from '@laurel/proto/wallet';
import { WebhookServiceService } from '@laurel/proto/webhook';
import { createTestDatabase } from '@laurel/testing';
import { encodePosition } from '@laurel/values/cursor';
import { newId, newOwnedId } from '@laurel/values/ids';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type ScriptedService, startScriptedService } from '../../clients/scripted-service.fixture.ts';
import { operatorOf, startTestGateway } from '../../gateway.fixture.ts';
import { ACCOUNT_ID, answerWithPage, atMillisecond, attemptAt, deliveryOf, deniedWin } from '../attempts.fixture.ts';

const CHALLENGE = { ...ChallengeServiceService, ...AttemptServiceService };

const stack = new AsyncDisposableStack();
let challenge: ScriptedService<typeof CHALLENGE>;
let tournament: ScriptedService<typeof AttemptServiceService>;
let webhook: ScriptedService<typeof WebhookServiceService>;
let wallet: ScriptedService<typeof WalletServiceService>;
let operate: ReturnType<typeof operatorOf>;
let developerId: string;
let programId: string;

beforeAll(async () => {
  challenge = stack.use(await startScriptedService(CHALLENGE));
  tournament = stack.use(await startScriptedService(AttemptServiceService));
  webhook = stack.use(await startScriptedService(WebhookServiceService, { putProgram: () => ({}) }));
  wallet = stack.use(await startScriptedService(WalletServiceService));
  const { runningUrl } = stack.use(
    await createTestDatabase({ migrations: new URL('../../../migrations/', import.meta.url) }),
  );
  const { port } = stack.use(
    await startTestGateway({
      GATEWAY_DATABASE_URL: runningUrl,
      CHALLENGE_ADDRESS: challenge.address,
      TOURNAMENT_ADDRESS: tournament.address,
      WEBHOOK_ADDRESS: webhook.address,
      WALLET_ADDRESS: wallet.address,
    }),
  );
  operate = operatorOf(port);
  const credentials = { email: 'dev@example.com', password: 'correct horse battery' };
  developerId = (await operate('POST', '/developers', credentials)).body.id;
  programId = (await operate('POST', '/programs', { name: 'Arcade', developer_id: developerId })).body.id;
}, 60_000);
afterAll(() => stack.disposeAsync());
beforeEach(() => {
  for (const service of [challenge, tournament, webhook, wallet]) {
    service.script = {};
    service.asked.length = 0;
  }
});

const list = (query: string) => operate('GET', `/attempts?${query}`);

test('operators list the attempts of an account at challenges and in rounds together', async () => {
  const [a, b, c] = [attemptAt('challenge', 50), attemptAt('tournament', 40), attemptAt('challenge', 30)];
  challenge.script.listAttempts = answerWithPage([a, c], null, 60, programId);
  tournament.script.listAttempts = answerWithPage([b], null, 60, programId);
  wallet.script.listPlayerLinks = async () => ({ links: [], severances: [], programIds: [programId] });
  const { status, body } = await list(`account_id=${ACCOUNT_ID}&limit=2`);
  expect([status, body.data.map(({ id }: { id: string }) => id)]).toEqual([200, [a.id, b.id]]);
  expect(body.data[0]).toMatchObject({
    program_id: programId,
    environment: 'test',
    account_id: ACCOUNT_ID,
    fee: '1.00',
  });
  expect(body).not.toHaveProperty('head_cursor');
  const asked = {
    contestId: '',
    playerRef: '',
    status: AttemptStatus.UNSPECIFIED,
    limit: 2,
    accountId: ACCOUNT_ID,
    programIds: [programId],
  };
  expect(challenge.asked).toEqual([['listAttempts', { ...asked, tenant: undefined, from: undefined }]]);
  expect(tournament.asked).toEqual(challenge.asked);
  challenge.script.listAttempts = answerWithPage([c], null, null);
  tournament.script.listAttempts = answerWithPage([], null, null);
  expect((await list(`account_id=${ACCOUNT_ID}&limit=2&cursor=${body.next_cursor}`)).body).toMatchObject({
    data: [{ id: c.id }],
    next_cursor: null,
  });
  expect(challenge.asked.at(-1)?.[1]).toMatchObject({
    from: { $case: 'before', value: { createdAt: b.createdAt, id: b.id } },
  });
});

test('operators can filter the attempts of any program', async () => {
  const round = newId();
  tournament.script.listAttempts = answerWithPage([], null, 60);
  const query = `program_id=${newId()}&environment=live&status=open&tournament_round_id=${round}&player_ref=p-1`;
  expect((await list(query)).body).toEqual({ data: [], next_cursor: null });
  expect(challenge.asked).toEqual([]);
  expect(tournament.asked).toMatchObject([
    [
      'listAttempts',
      {
        tenant: { environment: Environment.LIVE },
        contestId: round,
        playerRef: 'p-1',
        status: AttemptStatus.OPEN,
        accountId: '',
        programIds: [],
        limit: 200,
      },
    ],
  ]);
});

test('an invalid query of attempts is refused without a call', async () => {
  const ofProgram = `program_id=${newId()}&environment=test`;
  for (const query of [
    '',
    'environment=test',
    `program_id=${newId()}`,
    `account_id=${newId()}&environment=test`,
    'account_id=x',
    'player_ref=p-1',
    `${ofProgram}&cursor=nonsense`,
    `${ofProgram}&after=${encodePosition({ at: atMillisecond(0), id: newId() })}`,
    `${ofProgram}&challenge_id=${newId()}&tournament_round_id=${newId()}`,
    `${ofProgram}&status=pending`,
    `${ofProgram}&limit=0`,
  ])
    expect([query, (await list(query)).status]).toEqual([query, 400]);
  expect([challenge.asked, tournament.asked, wallet.asked]).toEqual([[], [], []]);
});

test('one attempt shows operators its account, history, evidence, deliveries and payout', async () => {
  const { described, attempt, outcome, award, eventId } = deniedWin({ programId });
  challenge.script.describeAttempt = async () => described;
  const sent = '{"replay" : "r-1", "n": 12345678901234567890}';
  const receiptJson = JSON.stringify({ attempt_id: attempt.id, evidence: null, evidence_text: sent });
  challenge.script.getReceipt = async () => ({
    receiptJson,
    signature: Buffer.alloc(64),
    publicKey: Buffer.alloc(44),
  });
  const { endpointId, delivery } = deliveryOf(40);
  webhook.script.listDeliveriesOfEvents = async () => ({ deliveries: [{ endpointId, delivery }] });
  wallet.script.getPayout = async () => ({
    payout: {
      awardId: award.id,
      attemptId: attempt.id,
      roundId: '',
      tenant: { programId, environment: Environment.TEST },
      accountId: ACCOUNT_ID,
      amountCents: 2_000n,
      status: PayoutStatus.DENIED,
      reason: 'payout_velocity',
      createdAt: atMillisecond(25),
      paidAt: undefined,
    },
    deniedAt: atMillisecond(90),
  });
  const goodwill = [
    { amountCents: 100n, reference: 'ticket 7', createdAt: atMillisecond(35) },
    { amountCents: 250n, reference: 'ticket 8', createdAt: atMillisecond(95) },
  ];
  wallet.script.listGoodwill = async () => ({ deposits: goodwill });
  const { status, body, text } = await operate('GET', `/attempts/${attempt.id}`);
  expect(status).toBe(200);
  expect(text).toContain(`"evidence":${sent}`);
  expect(text).toContain('"metadata":{"n":1.0}');
  expect(body).toMatchObject({
    id: attempt.id,
    program_id: programId,
    environment: 'test',
    account_id: ACCOUNT_ID,
    outcome: { receipt_id: outcome.receiptId },
    award: { payout_status: 'denied' },
    timeline: [
      {},
      {},
      {},
      { kind: 'award_held' },
      { kind: 'goodwill_deposited', at: atMillisecond(35).toISOString(), amount: '1.00', reference: 'ticket 7' },
      { kind: 'webhook_sent' },
      { kind: 'award_denied' },
      { kind: 'goodwill_deposited', at: atMillisecond(95).toISOString(), amount: '2.50', reference: 'ticket 8' },
    ],
    deliveries: [{ id: delivery.id, endpoint_id: endpointId }],
    payout: { award_id: award.id, status: 'denied', reason: 'payout_velocity', amount: '20.00' },
  });
  const asked = { programId: '', attemptId: attempt.id, anyProgram: true };
  expect(challenge.asked).toEqual([
    ['describeAttempt', asked],
    ['getReceipt', { receiptId: outcome.receiptId }],
  ]);
  expect(webhook.asked).toEqual([['listDeliveriesOfEvents', { developerId, eventIds: [eventId] }]]);
  expect(wallet.asked).toEqual([
    ['getPayout', { awardId: award.id }],
    ['listGoodwill', { attemptId: attempt.id }],
  ]);
});

test('an archived attempt has its outcome, and no evidence', async () => {
  const { described, attempt, outcome } = deniedWin({ programId });
  challenge.script.describeAttempt = async () => described;
  challenge.script.getReceipt = async () => refused('not_found', 'It is in the archive.');
  webhook.script.listDeliveriesOfEvents = async () => ({ deliveries: [] });
  wallet.script.listGoodwill = async () => ({ deposits: [] });
  const read = await operate('GET', `/attempts/${attempt.id}`);
  expect([read.status, read.body]).toMatchObject([200, { evidence: null, outcome: { receipt_id: outcome.receiptId } }]);
});

test('a free attempt without an account has no deliveries, evidence or payout', async () => {
  const other = (await operate('POST', '/programs', { name: 'Alone' })).body.id;
  const attempt = attemptAt('tournament', 0, { metadataJson: '{}' });
  const { described } = deniedWin({ programId: other });
  const open = { ...described, attempt, isAwardDenied: false, facts: [], awardId: '', accountId: '' };
  tournament.script.describeAttempt = async () => open;
  const { status, body } = await operate('GET', `/attempts/${attempt.id}`);
  expect([status, body]).toMatchObject([
    200,
    {
      program_id: other,
      account_id: null,
      tournament_round_id: attempt.contestId,
      timeline: [],
      evidence: null,
      payout: null,
      deliveries: [],
    },
  ]);
  expect([webhook.asked, wallet.asked]).toEqual([[], []]);
  // The contest service still asks the wallet for the payout.
  tournament.script.describeAttempt = async () => ({ ...open, awardId: newId() });
  expect((await operate('GET', `/attempts/${attempt.id}`)).body).toMatchObject({ payout: null });
});

test('an attempt id that names no contest service is 404 without a call', async () => {
  expect((await operate('GET', `/attempts/${newOwnedId('challenge')}`)).status).toBe(404);
  challenge.asked.length = 0;
  for (const id of [newId(), 'nonsense']) expect((await operate('GET', `/attempts/${id}`)).status).toBe(404);
  expect([challenge.asked, tournament.asked, wallet.asked]).toEqual([[], [], []]);
});
