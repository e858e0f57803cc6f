/** A program's attempts as its developer reads them. All other services are scripted. */

import { AttemptServiceService, AttemptStatus } from '@laurel/proto/attempts';
import { Environment } from '@laurel/proto/common';
import { WebhookServiceService } from '@laurel/proto/webhook';
import { createHttpClient, createPortal, createTestDatabase, type Portal, signIn } from '@laurel/testing';
import { openDocuments } from '@laurel/testing/contract';
import { encodePosition } from '@laurel/values/cursor';
import { newId, newOwnedId } from '@laurel/values/ids';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type ScriptedService, startScriptedService } from '../../clients/scripted-service.fixture.ts';
import { operatorOf, startTestGateway } from '../../gateway.fixture.ts';
import { answerWithPage, atMillisecond, attemptAt, deliveryOf, deniedWin } from '../attempts.fixture.ts';

const stack = new AsyncDisposableStack();
let challenge: ScriptedService<typeof AttemptServiceService>;
let tournament: ScriptedService<typeof AttemptServiceService>;
let webhook: ScriptedService<typeof WebhookServiceService>;
let portal: Portal;
let stranger: Portal;
let programId: string;
let developerId: string;

const CREDENTIALS = { email: 'dev@example.com', password: 'correct horse battery' };
const STRANGER = { email: 'other@example.com', password: 'correct horse battery' };

beforeAll(async () => {
  challenge = stack.use(await startScriptedService(AttemptServiceService));
  tournament = stack.use(await startScriptedService(AttemptServiceService));
  webhook = stack.use(await startScriptedService(WebhookServiceService, { putProgram: () => ({}) }));
  const { runningUrl } = stack.use(
    await createTestDatabase({ migrations: new URL('../../../migrations/', import.meta.url) }),
  );
  const { port } = stack.use(
    await startTestGateway({
      GATEWAY_DATABASE_URL: runningUrl,
      CHALLENGE_ADDRESS: challenge.address,
      TOURNAMENT_ADDRESS: tournament.address,
      WEBHOOK_ADDRESS: webhook.address,
      PORTAL_RATE_LIMIT_PER_MINUTE: '100000',
    }),
  );
  const operate = operatorOf(port);
  developerId = (await operate('POST', '/developers', CREDENTIALS)).body.id;
  await operate('POST', '/developers', STRANGER);
  programId = (await operate('POST', '/programs', { name: 'Arcade', developer_id: developerId })).body.id;
  const http = stack.use(createHttpClient({ baseUrl: `http://127.0.0.1:${port}`, onAnswer: openDocuments().check }));
  portal = createPortal(http, (await signIn(http, CREDENTIALS)).body.token);
  stranger = createPortal(http, (await signIn(http, STRANGER)).body.token);
}, 60_000);
afterAll(() => stack.disposeAsync());
beforeEach(() => {
  for (const service of [challenge, tournament, webhook]) {
    service.script = {};
    service.asked.length = 0;
  }
});

const list = (query: string) =>
  portal.send<{ data: { id: string }[]; next_cursor: string | null; head_cursor: string | null }>(
    'GET',
    `/programs/${programId}/attempts?environment=test${query}`,
  );

test('a page of attempts ends where the first of the two contest services’ lists ends', async () => {
  const [a, c] = [attemptAt('challenge', 50), attemptAt('challenge', 30)];
  const [b, hidden] = [attemptAt('tournament', 40), attemptAt('tournament', 10)];
  challenge.script.listAttempts = answerWithPage([a, c], 30, 60);
  tournament.script.listAttempts = answerWithPage([b, hidden], null, 70);
  const page = await list('&limit=3&status=open&player_ref=p-1');
  expect([page.status, page.body.data.map(({ id }) => id)]).toEqual([200, [a.id, b.id]]);
  expect(page.body.next_cursor).not.toBeNull();
  expect(page.body.head_cursor).not.toBeNull();
  const tenant = { programId, environment: Environment.TEST };
  const asked = {
    tenant,
    contestId: '',
    playerRef: 'p-1',
    status: AttemptStatus.OPEN,
    from: undefined,
    limit: 3,
    accountId: '',
    programIds: [],
  };
  expect(challenge.asked).toEqual([['listAttempts', asked]]);
  expect(tournament.asked).toEqual(challenge.asked);
});

test('a list of attempts at one challenge calls the challenge service alone', async () => {
  challenge.script.listAttempts = answerWithPage([], null, 60);
  tournament.script.listAttempts = answerWithPage([], null, 60);
  expect((await list(`&challenge_id=${newId()}`)).status).toBe(200);
  expect([challenge.asked.length, tournament.asked.length]).toEqual([1, 0]);
  expect((await list(`&tournament_round_id=${newId()}`)).status).toBe(200);
  expect([challenge.asked.length, tournament.asked.length]).toEqual([1, 1]);
});

test('a list with `after` has the oldest attempts first', async () => {
  const [a, b] = [attemptAt('challenge', 40), attemptAt('tournament', 30)];
  challenge.script.listAttempts = answerWithPage([a], 60, null);
  tournament.script.listAttempts = answerWithPage([b], 50, null);
  const position = { at: atMillisecond(20), id: newId() };
  const { status, body } = await list(`&after=${encodePosition(position)}`);
  expect([status, body.data.map(({ id }) => id), body.next_cursor]).toEqual([200, [b.id, a.id], null]);
  expect(challenge.asked[0]?.[1]).toMatchObject({
    from: { $case: 'after', value: { createdAt: position.at, id: position.id } },
  });
  expect(Buffer.from(body.head_cursor ?? '', 'base64url').toString()).toContain(atMillisecond(50).toISOString());
});

test('an invalid query of attempts is refused without a call', async () => {
  const cursor = encodePosition({ at: atMillisecond(0), id: newId() });
  for (const query of [
    '&cursor=nonsense',
    '&after=nonsense',
    `&after=${cursor}&cursor=${cursor}`,
    `&challenge_id=${newId()}&tournament_round_id=${newId()}`,
    '&challenge_id=x',
    '&status=pending',
    '&limit=0',
  ])
    expect([query, (await list(query)).status]).toEqual([query, 400]);
  expect((await portal.send('GET', `/programs/${programId}/attempts`)).status).toBe(400);
  expect([challenge.asked, tournament.asked]).toEqual([[], []]);
});

test('an attempt is shown with its history and deliveries, in order', async () => {
  const { described, attempt, outcome, award, eventId } = deniedWin({ programId });
  challenge.script.describeAttempt = async () => described;
  const { endpointId, delivery } = deliveryOf(40);
  webhook.script.listDeliveriesOfEvents = async () => ({ deliveries: [{ endpointId, delivery }] });
  const path = `/programs/${programId}/attempts/${attempt.id}`;
  const { status, body, text } = await portal.send<{ timeline: { kind: string; at: string }[] }>('GET', path);
  expect(status).toBe(200);
  expect(text).toContain('"metadata":{"n":1.0}');
  expect(body).toMatchObject({
    id: attempt.id,
    score: 7.5,
    award: { id: award.id, amount: '20.00', payout_status: 'denied' },
    outcome: { receipt_id: outcome.receiptId, threshold_applied: 5 },
    deliveries: [{ id: delivery.id, endpoint_id: endpointId }],
  });
  expect(body.timeline.map(({ kind }) => kind)).toEqual([
    'created',
    'fee_charged',
    'settled',
    'award_held',
    'webhook_sent',
    'award_denied',
  ]);
  expect(challenge.asked).toEqual([['describeAttempt', { programId, attemptId: attempt.id, anyProgram: false }]]);
  expect(webhook.asked).toEqual([['listDeliveriesOfEvents', { developerId, eventIds: [eventId] }]]);
});

test('an attempt of another developer’s program is not found', async () => {
  const id = newOwnedId('challenge');
  for (const path of [
    '/attempts?environment=test',
    '/attempts?environment=test&limit=1',
    `/attempts/${id}`,
    `/attempts/${id}/receipt`,
  ])
    expect([path, (await stranger.send('GET', `/programs/${programId}${path}`)).status]).toEqual([path, 404]);
  // An invalid query is refused first, even for a program that does not exist.
  const unfit = (program: string) => stranger.send('GET', `/programs/${program}/attempts?limit=nonsense`);
  const [foreign, missing] = [await unfit(programId), await unfit(newId())];
  expect([foreign.status, foreign.text]).toEqual([400, missing.text]);
  expect([challenge.asked, tournament.asked, webhook.asked]).toEqual([[], [], []]);
  for (const unknown of [id, newId(), 'nonsense'])
    for (const path of [`/attempts/${unknown}`, `/attempts/${unknown}/receipt`])
      expect((await portal.send('GET', `/programs/${programId}${path}`)).status).toBe(404);
  expect(webhook.asked).toEqual([]);
});
