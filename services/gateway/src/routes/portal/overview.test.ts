/** The overview of a program, with a scripted wallet and a scripted webhook service. */

import { createDatabase, type Database } from '@laurel/postgres';
import { Environment } from '@laurel/proto/common';
import { WalletServiceService } from '@laurel/proto/wallet';
import { WebhookServiceService } from '@laurel/proto/webhook';
import { createHttpClient, createPortal, createTestDatabase, type Portal, signIn } from '@laurel/testing';
import { openDocuments } from '@laurel/testing/contract';
import { newId } from '@laurel/values/ids';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type ScriptedService, startScriptedService } from '../../clients/scripted-service.fixture.ts';
import { operatorOf, startTestGateway } from '../../gateway.fixture.ts';

const HOUR_MS = 3_600_000;
const AT = new Date('2026-11-21T12:00:00.000Z');

const stack = new AsyncDisposableStack();
let webhook: ScriptedService<typeof WebhookServiceService>;
let wallet: ScriptedService<typeof WalletServiceService>;
let database: Database;
let developerId: string;
let programId: string;
let portal: Portal;
let stranger: Portal;

beforeAll(async () => {
  webhook = stack.use(await startScriptedService(WebhookServiceService, { putProgram: () => ({}) }));
  wallet = stack.use(await startScriptedService(WalletServiceService));
  const { url, runningUrl } = stack.use(
    await createTestDatabase({ migrations: new URL('../../../migrations/', import.meta.url) }),
  );
  database = stack.use(createDatabase({ url, maxConnections: 2, applicationName: 'overview-test' }));
  const { port } = stack.use(
    await startTestGateway({
      GATEWAY_DATABASE_URL: runningUrl,
      WEBHOOK_ADDRESS: webhook.address,
      WALLET_ADDRESS: wallet.address,
      PORTAL_RATE_LIMIT_PER_MINUTE: '100000',
    }),
  );
  const http = stack.use(createHttpClient({ baseUrl: `http://127.0.0.1:${port}`, onAnswer: openDocuments().check }));
  const operate = operatorOf(port);
  const enter = async (email: string) => {
    const credentials = { email, password: 'correct horse battery' };
    const { id } = (await operate('POST', '/developers', credentials)).body;
    return { id: id as string, portal: createPortal(http, (await signIn(http, credentials)).body.token) };
  };
  ({ id: developerId, portal } = await enter('dev@example.com'));
  ({ portal: stranger } = await enter('other@example.com'));
  programId = (await operate('POST', '/programs', { name: 'Arcade', developer_id: developerId })).body.id;
}, 60_000);
afterAll(() => stack.disposeAsync());
beforeEach(() => {
  for (const service of [webhook, wallet]) {
    service.script = {};
    service.asked.length = 0;
  }
});

const path = (query: string, program = programId) => `/programs/${program}/overview?${query}`;

test('the overview has the money and the deliveries of one environment', async () => {
  wallet.script.getProgramMoney = async () => ({
    feesCents: 12_34n,
    refundsCents: 1_00n,
    paidCents: 5_00n,
    heldCents: 50n,
  });
  const counts = { delivered: 3, failed: 2, pending: 1 };
  webhook.script.summarizeDeliveries = async () => ({
    ...counts,
    countedFrom: AT,
    endpointCreatedAt: AT,
    deliveredAt: AT,
  });
  await database.query(
    {
      text: `insert into first_requests (program_id, environment, milestone, at) values ($1, 'live', 'key_used', $2), ($1, 'test', 'player_linked', $2)`,
    },
    [programId, AT],
  );
  await database.query(
    {
      text: `
insert into request_counts (program_id, environment, starts_at, status, error_code, requests)
select $1, n.environment, date_bin('5 minutes', now() - interval '1 hour', 'epoch'), n.status, n.error_code, n.requests
from (values ('live', 201, '', 7), ('live', 402, 'insufficient_funds', 2), ('live', 500, 'internal_error', 1), ('test', 200, '', 5))
  as n (environment, status, error_code, requests)`,
    },
    [programId],
  );
  const { status, body } = await portal.send<Record<string, unknown>>('GET', path('environment=live&hours=48'));
  expect(status).toBe(200);
  const at = AT.toISOString();
  expect(body).toMatchObject({
    environment: 'live',
    hours: 48,
    quick_start: {
      key_used_at: at,
      player_linked_at: null,
      attempt_created_at: null,
      outcome_reported_at: null,
      endpoint_created_at: at,
      webhook_delivered_at: at,
    },
    requests: {
      total: 10,
      errors_4xx: 2,
      errors_5xx: 1,
      top_errors: [
        { code: 'insufficient_funds', count: 2 },
        { code: 'internal_error', count: 1 },
      ],
    },
    money: { fees: '12.34', refunds: '1.00', paid: '5.00', held: '0.50' },
    deliveries: { ...counts, counted_from: at },
  });
  const [from, to] = [new Date(String(body.from)), new Date(String(body.to))];
  expect(to.getTime() - from.getTime()).toBe(48 * HOUR_MS);
  const { requests } = body as { requests: { buckets: { ok: number; errors_4xx: number; errors_5xx: number }[] } };
  expect(requests.buckets).toHaveLength(48);
  expect(requests.buckets.filter(({ ok }) => ok > 0)).toMatchObject([{ ok: 7, errors_4xx: 2, errors_5xx: 1 }]);
  const tenant = { programId, environment: Environment.LIVE };
  expect(wallet.asked).toEqual([['getProgramMoney', { tenant, since: from }]]);
  expect(webhook.asked).toEqual([['summarizeDeliveries', { developerId, tenant, from }]]);
});

test('the overview shows null for unknown numbers', async () => {
  wallet.script.getProgramMoney = async () => ({ paidCents: 0n, heldCents: 0n });
  const none = { delivered: 0, failed: 0, pending: 0 };
  webhook.script.summarizeDeliveries = async () => none;
  expect((await portal.send('GET', path('environment=test'))).body).toMatchObject({
    environment: 'test',
    hours: 24,
    quick_start: { endpoint_created_at: null, webhook_delivered_at: null },
    money: { fees: null, refunds: null, paid: '0.00', held: '0.00' },
    deliveries: { ...none, counted_from: null },
  });
});

test('the overview of another developer’s program is not found', async () => {
  for (const [by, program] of [[stranger, programId] as const, [portal, newId()] as const]) {
    const answer = await by.send('GET', path('environment=live', program));
    expect([answer.status, answer.code]).toEqual([404, 'not_found']);
  }
  expect([...wallet.asked, ...webhook.asked]).toEqual([]);
});

test('the overview refuses every invalid query', async () => {
  for (const query of [
    '',
    'environment=prod',
    'environment=live&hours=0',
    'environment=live&hours=169',
    'environment=live&hours=x',
  ]) {
    const answer = await portal.send('GET', path(query));
    expect({ query, status: answer.status, code: answer.code }).toEqual({
      query,
      status: 400,
      code: 'invalid_request',
    });
  }
  expect([...wallet.asked, ...webhook.asked]).toEqual([]);
});
