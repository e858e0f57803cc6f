/**
 * The integration service is scripted. The tests check which calls it gets, and how its results are
 * shown.
 */
import { refused } from '@laurel/errors';
import { Environment } from '@laurel/proto/common';
import { type Integration, IntegrationStatus, Transport } from '@laurel/proto/integration';
import { createTestDatabase } from '@laurel/testing';
import { newId } from '@laurel/values/ids';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type ScriptedIntegration, startScriptedIntegration } from '../../clients/integration.fixture.ts';
import { fetchDescribed } from '../../described-answer.fixture.ts';
import { OPERATOR_TOKEN, startTestGateway, UNREACHABLE } from '../../gateway.fixture.ts';

const AT = new Date('2026-11-21T12:00:00.000Z');
const SECRET = 'a1'.repeat(32);
const DRAFT: Integration = {
  id: newId(),
  transport: Transport.PUSH_WEBHOOK,
  status: IntegrationStatus.DRAFT,
  descriptorJson: '{"x-seed": 18446744073709551615, "map": {}}',
  hasSigningSecret: true,
  pullIntervalSeconds: undefined,
  lastPolledAt: undefined,
  nextPollAt: undefined,
  consecutiveFailures: 0,
  lastPollError: undefined,
  createdAt: AT,
};
const SHOWN = {
  id: DRAFT.id,
  transport: 'push_webhook',
  status: 'draft',
  descriptor: { 'x-seed': 18446744073709552000, map: {} },
  has_signing_secret: true,
  pull_interval_seconds: null,
  last_polled_at: null,
  next_poll_at: null,
  consecutive_failures: 0,
  last_poll_error: null,
  created_at: AT.toISOString(),
};
const NOT_FOUND = [404, 'not_found'];
const INVALID = [400, 'invalid_request'];
const FAILED = [500, 'internal_error'];

const stack = new AsyncDisposableStack();
let integration: ScriptedIntegration;
let ports: number[];
let key: string;
let programId: string;

beforeAll(async () => {
  integration = stack.use(await startScriptedIntegration());
  const { runningUrl } = stack.use(
    await createTestDatabase({ migrations: new URL('../../../migrations/', import.meta.url) }),
  );
  const start = async (integrationAddress: string) => {
    const settings = {
      GATEWAY_DATABASE_URL: runningUrl,
      INTEGRATION_ADDRESS: integrationAddress,
      RATE_LIMIT_PER_MINUTE: '100000',
    };
    return stack.use(await startTestGateway(settings)).port;
  };
  ports = [await start(integration.address), await start(UNREACHABLE)];
  const made = await operate('POST', '/programs', { name: 'Arcade' });
  programId = made.body.id;
  key = made.body.test_key;
}, 60_000);
afterAll(() => stack.disposeAsync());
beforeEach(() => {
  integration.script = {};
  integration.asked.length = 0;
  integration.programs.length = 0;
});

async function send(method: string, path: string, headers: Record<string, string>, body?: unknown, replica = 0) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return fetchDescribed(ports[replica] ?? 0, path, {
    method,
    headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...(text !== undefined && { body: text }),
  });
}
const partner = (method: string, path: string, body?: unknown, replica = 0) =>
  send(method, `/v1${path}`, { 'x-api-key': key }, body, replica);
const operate = (method: string, path: string, body?: unknown, replica = 0) =>
  send(method, `/api/operator${path}`, { authorization: `Bearer ${OPERATOR_TOKEN}` }, body, replica);
const codeOf = ({ status, body }: Awaited<ReturnType<typeof send>>) => [status, body.error?.code];

const tenant = () => ({ programId, environment: Environment.TEST });

describe('POST /v1/integrations', () => {
  test('a new push_webhook is shown with its secret, its path and its unchanged descriptor', async () => {
    integration.script.createIntegration = async () => ({ integration: DRAFT, signingSecret: SECRET });
    const sent = `{"transport":"push_webhook","descriptor":${DRAFT.descriptorJson},"other":1}`;
    const made = await partner('POST', '/integrations', sent);
    expect([made.status, made.body]).toEqual([
      201,
      {
        ...SHOWN,
        signing_secret: SECRET,
        webhook_url: `/webhooks/integrations/${DRAFT.id}/outcome`,
        signing_instructions: expect.stringContaining('X-Service-Signature'),
      },
    ]);
    expect(made.text).toContain(`"descriptor":${DRAFT.descriptorJson}`);
    expect(made.headers.has('idempotency-replayed')).toBe(false);
    const { descriptorJson } = DRAFT;
    const asked = {
      tenant: tenant(),
      transport: Transport.PUSH_WEBHOOK,
      descriptorJson,
      pullIntervalSeconds: undefined,
    };
    expect(integration.asked).toEqual([['createIntegration', asked]]);
  });

  test.each([
    ['pull_poll', Transport.PULL_POLL],
    ['sdk_direct', Transport.SDK_DIRECT],
  ] as const)('a %s is created without a secret', async (transport, value) => {
    const draft = {
      ...DRAFT,
      transport: value,
      hasSigningSecret: false,
      descriptorJson: '{}',
      pullIntervalSeconds: 30,
    };
    integration.script.createIntegration = async () => ({ integration: draft, signingSecret: '' });
    const made = await partner('POST', '/integrations', { transport, pull_interval_seconds: 30 });
    expect([made.status, made.body]).toEqual([
      201,
      { ...SHOWN, transport, descriptor: {}, has_signing_secret: false, pull_interval_seconds: 30 },
    ]);
    expect(integration.asked).toMatchObject([['createIntegration', { descriptorJson: '{}', pullIntervalSeconds: 30 }]]);
  });

  test('an invalid body is 400 and reaches no service', async () => {
    const transport = 'push_webhook';
    for (const body of [
      {},
      { transport: 'carrier_pigeon' },
      { transport: null },
      { transport, descriptor: null },
      { transport, descriptor: [] },
      { transport, descriptor: 'x' },
      { transport, descriptor: { text: 'x'.repeat(16 * 1024) } },
      { transport: 'pull_poll', pull_interval_seconds: 29 },
      { transport: 'pull_poll', pull_interval_seconds: 30.5 },
      { transport: 'pull_poll', pull_interval_seconds: '60' },
      { transport: 'pull_poll', pull_interval_seconds: null },
      { transport: 'pull_poll', pull_interval_seconds: 2 ** 31 },
      [],
      'null',
      '{"transport":"push_webhook","transport":"push_webhook"}',
      '{',
      `{"transport":"push_webhook","x":"${'x'.repeat(256 * 1024)}"}`,
    ]) {
      expect(codeOf(await partner('POST', '/integrations', body)), JSON.stringify(body).slice(0, 80)).toEqual(INVALID);
    }
    const asText = { 'x-api-key': key, 'content-type': 'text/plain' };
    expect(codeOf(await send('POST', '/v1/integrations', asText, { transport }))).toEqual(INVALID);
    expect(integration.asked).toEqual([]);
  });

  test('an Idempotency-Key has no effect on the creation of an integration', async () => {
    integration.script.createIntegration = async () => ({ integration: DRAFT, signingSecret: SECRET });
    const headers = { 'x-api-key': key, 'idempotency-key': newId() };
    for (const times of [1, 2]) {
      const made = await send('POST', '/v1/integrations', headers, { transport: 'push_webhook' });
      expect([made.status, made.headers.has('idempotency-replayed')]).toEqual([201, false]);
      expect(integration.asked).toHaveLength(times);
    }
  });

  test('every refusal of the integration service is 400', async () => {
    for (const [code, message] of [
      ['invalid_request', 'descriptor.map.score: is missing'],
      ['conflict', 'The program has 100 integrations.'],
    ] as const) {
      integration.script.createIntegration = async () => refused(code, message);
      const answer = await partner('POST', '/integrations', { transport: 'push_webhook' });
      expect([answer.status, answer.body]).toEqual([400, { error: { code: 'invalid_request', message } }]);
    }
  });

  test('the program is announced before its first integration is created', async () => {
    integration.script.createIntegration = async () => {
      expect(integration.announced(programId)).toHaveLength(1);
      return { integration: DRAFT, signingSecret: SECRET };
    };
    await partner('POST', '/integrations', { transport: 'push_webhook' });
    expect(integration.announced(programId)).toEqual([
      { programId, developerId: '', openEnvironments: [Environment.TEST], version: expect.anything() },
    ]);
  });
});

describe('the other routes of integrations', () => {
  const path = `/integrations/${DRAFT.id}`;

  test('GET /v1/integrations lists in the order of the service', async () => {
    const other = {
      ...DRAFT,
      id: newId(),
      lastPolledAt: AT,
      nextPollAt: AT,
      consecutiveFailures: 2,
      lastPollError: 'dns',
    };
    integration.script.listIntegrations = async () => ({ integrations: [other, DRAFT] });
    const listed = await partner('GET', '/integrations');
    const at = AT.toISOString();
    const polled = { last_polled_at: at, next_poll_at: at, consecutive_failures: 2, last_poll_error: 'dns' };
    expect([listed.status, listed.body]).toEqual([200, { data: [{ ...SHOWN, ...polled, id: other.id }, SHOWN] }]);
    expect(integration.asked).toEqual([['listIntegrations', { tenant: tenant() }]]);
  });

  test('PATCH changes only what is sent', async () => {
    const active = { ...DRAFT, status: IntegrationStatus.ACTIVE };
    integration.script.updateIntegration = async () => ({ integration: active });
    const unchanged = {
      tenant: tenant(),
      integrationId: DRAFT.id,
      descriptorJson: undefined,
      status: IntegrationStatus.UNSPECIFIED,
      pullIntervalSeconds: undefined,
    };
    for (const [body, asked] of [
      ['{}', unchanged],
      [
        { status: 'active', other: null },
        { ...unchanged, status: IntegrationStatus.ACTIVE },
      ],
      ['{"descriptor":{ "a": 1.0 }}', { ...unchanged, descriptorJson: '{ "a": 1.0 }' }],
      [{ pull_interval_seconds: 60 }, { ...unchanged, pullIntervalSeconds: 60 }],
    ] as const) {
      integration.asked.length = 0;
      const changed = await partner('PATCH', path.toUpperCase().replace('INTEGRATIONS', 'integrations'), body);
      expect([changed.status, changed.body]).toEqual([200, { ...SHOWN, status: 'active' }]);
      expect(integration.asked).toEqual([['updateIntegration', asked]]);
    }
  });

  test('PATCH refuses an invalid body before it looks up the integration', async () => {
    for (const body of [{ status: 'closed' }, { status: null }, { descriptor: 1 }, { pull_interval_seconds: 29 }, '']) {
      expect(codeOf(await partner('PATCH', '/integrations/nonsense', body))).toEqual(INVALID);
    }
    integration.script.updateIntegration = async () => refused('invalid_request', 'It has no signing secret.');
    expect(codeOf(await partner('PATCH', path, { status: 'active' }))).toEqual(INVALID);
  });

  test('rotate-secret shows the new secret with a note', async () => {
    integration.script.rotateSecret = async () => ({ integration: DRAFT, signingSecret: SECRET });
    const rotated = await partner('POST', `${path}/rotate-secret`);
    expect([rotated.status, rotated.body]).toEqual([
      200,
      { ...SHOWN, signing_secret: SECRET, note: expect.stringContaining('previous-secret') },
    ]);
    integration.script.rotateSecret = async () => refused('invalid_request', 'The integration is not a push_webhook.');
    expect(codeOf(await partner('POST', `${path}/rotate-secret`))).toEqual(INVALID);
  });

  test('DELETE previous-secret shows the integration', async () => {
    integration.script.retirePreviousSecret = async () => ({ integration: DRAFT });
    const retired = await partner('DELETE', `${path}/previous-secret`);
    expect([retired.status, retired.body]).toEqual([200, SHOWN]);
    expect(integration.asked).toEqual([['retirePreviousSecret', { tenant: tenant(), integrationId: DRAFT.id }]]);
  });

  test('an unknown integration is 404, and a malformed id reaches no service', async () => {
    const routes = (id: string) =>
      [
        ['PATCH', `/integrations/${id}`, {}],
        ['POST', `/integrations/${id}/rotate-secret`, undefined],
        ['DELETE', `/integrations/${id}/previous-secret`, undefined],
      ] as const;
    for (const [method, route, body] of [...routes('nonsense'), ...routes('%20')]) {
      expect(codeOf(await partner(method, route, body))).toEqual(NOT_FOUND);
    }
    expect(integration.asked).toEqual([]);
    for (const [method, route, body] of routes(newId())) {
      expect(codeOf(await partner(method, route, body))).toEqual(NOT_FOUND);
    }
    expect(integration.asked).toHaveLength(3);
  });

  test('each route of integrations is 500 while the integration service is down', async () => {
    for (const [method, route, body] of [
      ['POST', '/integrations', { transport: 'push_webhook' }],
      ['GET', '/integrations', undefined],
      ['PATCH', path, {}],
      ['POST', `${path}/rotate-secret`, undefined],
      ['DELETE', `${path}/previous-secret`, undefined],
    ] as const) {
      const failed = await partner(method, route, body, 1);
      expect(codeOf(failed)).toEqual(FAILED);
      expect(failed.text).not.toMatch(/UNAVAILABLE|ECONNREFUSED|grpc/i);
      expect(codeOf(await send(method, `/v1${route}`, {}, body))).toEqual([401, 'unauthorized']);
    }
  });
});

describe("a program's facts", () => {
  test('each operator change announces the environments in which the program’s keys work', async () => {
    const { id } = (await operate('POST', '/programs', { name: 'Announced' })).body;
    await operate('POST', `/programs/${id}/approve`);
    await operate('PATCH', `/programs/${id}`, { status: 'suspended' });
    await operate('PATCH', `/programs/${id}`, { status: 'approved' });
    await operate('PATCH', `/programs/${id}`, { deletion_scheduled: true });
    const both = [Environment.TEST, Environment.LIVE];
    expect(integration.announced(id).map(({ openEnvironments }) => openEnvironments)).toEqual([
      [Environment.TEST],
      both,
      [],
      both,
      [],
    ]);
  });

  test('programs can be changed while the integration service is unreachable', async () => {
    const { id } = (await operate('POST', '/programs', { name: 'Kept' }, 1)).body;
    expect((await operate('POST', `/programs/${id}/approve`, undefined, 1)).status).toBe(200);
    expect((await operate('PATCH', `/programs/${id}`, { status: 'suspended' }, 1)).status).toBe(200);
    expect((await operate('GET', `/programs/${id}`)).body).toMatchObject({ status: 'suspended' });
    await expect.poll(() => integration.announced(id), { timeout: 30_000 }).toMatchObject([{ openEnvironments: [] }]);
  });
});
