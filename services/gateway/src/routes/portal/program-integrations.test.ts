/**
 * The integrations of a program, for its signed-in developer. The integration service is scripted.
 * The tests compare its calls and the responses with those of `/v1`.
 */
import { refused } from '@laurel/errors';
import { Environment } from '@laurel/proto/common';
import { type Integration, IntegrationStatus, Transport } from '@laurel/proto/integration';
import { WebhookServiceService } from '@laurel/proto/webhook';
import { createTestDatabase } from '@laurel/testing';
import { newId } from '@laurel/values/ids';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type ScriptedIntegration, startScriptedIntegration } from '../../clients/integration.fixture.ts';
import { startScriptedService } from '../../clients/scripted-service.fixture.ts';
import { fetchDescribed } from '../../described-answer.fixture.ts';
import { OPERATOR_TOKEN, startTestGateway } from '../../gateway.fixture.ts';
import { PROGRAM_INTEGRATION_ROUTES } from './program-integrations.ts';

const PASSWORD = 'correct horse battery';
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
  createdAt: new Date('2026-11-21T12:00:00.000Z'),
};
const DRY_RUN = { transport: 'push_webhook', descriptor: {}, sample: {} };
const INVALID = [400, 'invalid_request'];
const NOT_FOUND = [404, 'not_found'];
const CONFLICT = [409, 'conflict'];

const stack = new AsyncDisposableStack();
let integration: ScriptedIntegration;
let port: number;
/** The port of a gateway that accepts no test keys. */
let livePort: number;

beforeAll(async () => {
  integration = stack.use(await startScriptedIntegration());
  const webhook = stack.use(await startScriptedService(WebhookServiceService, { putProgram: () => ({}) }));
  const { runningUrl } = stack.use(
    await createTestDatabase({ migrations: new URL('../../../migrations/', import.meta.url) }),
  );
  const settings = {
    GATEWAY_DATABASE_URL: runningUrl,
    INTEGRATION_ADDRESS: integration.address,
    WEBHOOK_ADDRESS: webhook.address,
    RATE_LIMIT_PER_MINUTE: '100000',
    PORTAL_RATE_LIMIT_PER_MINUTE: '100000',
  };
  port = stack.use(await startTestGateway(settings)).port;
  livePort = stack.use(await startTestGateway({ ...settings, ACCEPTED_ENVIRONMENTS: 'live' })).port;
}, 60_000);
afterAll(() => stack.disposeAsync());
beforeEach(() => {
  const answer = async () => ({ integration: DRAFT, signingSecret: 'a1'.repeat(32) });
  integration.script = {
    createIntegration: answer,
    listIntegrations: async () => ({ integrations: [DRAFT] }),
    updateIntegration: answer,
    rotateSecret: answer,
    retirePreviousSecret: answer,
    dryRun: async () => ({ records: [], recordsFailure: undefined, nextPageJson: '' }),
    listLog: async () => ({ entries: [], nextCursor: '' }),
  };
  integration.asked.length = 0;
});

type Headers = Record<string, string>;

async function send(method: string, path: string, headers: Headers, body?: unknown, to = port) {
  const hasBody = body !== undefined;
  return fetchDescribed(to, path, {
    method,
    headers: { ...headers, ...(hasBody && { 'content-type': 'application/json' }) },
    ...(hasBody && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
}

const bearer = (token: string): Headers => ({ authorization: `Bearer ${token}` });
const operate = (method: string, path: string, body?: unknown) =>
  send(method, `/api/operator${path}`, bearer(OPERATOR_TOKEN), body);
const codeOf = ({ status, body }: Awaited<ReturnType<typeof send>>) => [status, body?.error?.code];

async function signIn(email: string): Promise<Headers> {
  return bearer((await send('POST', '/api/portal/session', {}, { email, password: PASSWORD })).body.token);
}

let developers = 0;
async function makeDeveloper() {
  developers += 1;
  const email = `dev${developers}@example.com`;
  const { id } = (await operate('POST', '/developers', { email, password: PASSWORD })).body;
  const { body: program } = await operate('POST', '/programs', { name: 'Arcade', developer_id: id });
  return { id: id as string, session: await signIn(email), programId: program.id as string, key: program.test_key };
}

const pathOf = (programId: string, path = '') => `/api/portal/programs/${programId}/integrations${path}`;

/** Every route of the integrations of a program, with a body and a query with which it succeeds. */
const allCalls = (environment: string) =>
  [
    ['GET', `?environment=${environment}`],
    ['POST', '', { environment, transport: 'push_webhook' }],
    ['PATCH', `/${DRAFT.id}?environment=${environment}`, { status: 'active' }],
    ['POST', `/${DRAFT.id}/rotate-secret?environment=${environment}`],
    ['POST', `/${DRAFT.id}/retire-previous-secret?environment=${environment}`],
    ['POST', '/dry-run', DRY_RUN],
    ['GET', `/${DRAFT.id}/log`],
  ] as readonly (readonly [method: string, path: string, body?: object])[];
const changingCalls = (environment: string) => allCalls(environment).slice(1, 5);

test('each portal route of integrations makes the same call as the route of /v1', async () => {
  const { session, programId, key } = await makeDeveloper();
  const liveKey = (await operate('POST', `/programs/${programId}/approve`)).body.live_key;
  const member = '"descriptor": { "x": 18446744073709551615 }';
  for (const [environment, apiKey] of [
    ['test', key],
    ['live', liveKey],
  ] as const) {
    const where = `?environment=${environment}`;
    const one = `/${DRAFT.id}`;
    for (const [bySession, byKey, status] of [
      [['GET', where], ['GET', ''], 200],
      [
        ['POST', '', `{"environment":"${environment}","transport":"push_webhook",${member}}`],
        ['POST', '', `{"transport":"push_webhook",${member}}`],
        201,
      ],
      [['PATCH', `${one.toUpperCase()}${where}`, `{${member}}`], ['PATCH', one, `{${member}}`], 200],
      [['PATCH', `${one}${where}`, { status: 'active' }], ['PATCH', one, { status: 'active' }], 200],
      [['POST', `${one}/rotate-secret${where}`], ['POST', `${one}/rotate-secret`], 200],
      [['POST', `${one}/retire-previous-secret${where}`], ['DELETE', `${one}/previous-secret`], 200],
    ] as const) {
      integration.asked.length = 0;
      const inPortal = await send(bySession[0], pathOf(programId, bySession[1]), session, bySession[2]);
      const inV1 = await send(byKey[0], `/v1/integrations${byKey[1]}`, { 'x-api-key': apiKey }, byKey[2]);
      expect([inPortal.status, inPortal.text], bySession.join(' ')).toEqual([status, inV1.text]);
      const [asked, askedByKey] = integration.asked;
      expect(asked, bySession.join(' ')).toEqual(askedByKey);
      const tenant = { programId, environment: environment === 'test' ? Environment.TEST : Environment.LIVE };
      expect(asked?.[1]).toMatchObject({ tenant });
    }
  }
});

test('another developer’s program is not found on any route of integrations', async () => {
  const { programId } = await makeDeveloper();
  const other = await makeDeveloper();
  expect(allCalls('test')).toHaveLength(PROGRAM_INTEGRATION_ROUTES.length);
  for (const id of [programId, newId(), 'nonsense']) {
    for (const [method, path, body] of allCalls('test')) {
      expect(codeOf(await send(method, pathOf(id, path), other.session, body)), `${method} ${path}`).toEqual(NOT_FOUND);
    }
  }
  expect(integration.asked).toEqual([]);
});

test('changes are refused in an environment where no key of the program works', async () => {
  const { session, programId } = await makeDeveloper();
  const statuses = async (environment: string) => {
    const answers = [];
    for (const [method, path, body] of allCalls(environment)) {
      answers.push((await send(method, pathOf(programId, path), session, body)).status);
    }
    return answers;
  };
  const open = [200, 201, 200, 200, 200, 200, 200];
  const closed = [200, 409, 409, 409, 409, 200, 200];
  const expectOpen = async (test: boolean, live: boolean) => {
    expect(await statuses('test')).toEqual(test ? open : closed);
    expect(await statuses('live')).toEqual(live ? open : closed);
  };
  await expectOpen(true, false);
  await operate('POST', `/programs/${programId}/approve`);
  await expectOpen(true, true);
  await operate('PATCH', `/programs/${programId}`, { deletion_scheduled: true });
  await expectOpen(false, false);
  await operate('PATCH', `/programs/${programId}`, { deletion_scheduled: false });
  for (const status of ['suspended', 'closed']) {
    await operate('PATCH', `/programs/${programId}`, { status });
    integration.asked.length = 0;
    await expectOpen(false, false);
    expect(new Set(integration.asked.map(([rpc]) => rpc))).toEqual(new Set(['listIntegrations', 'dryRun', 'listLog']));
    expect(codeOf(await send('POST', pathOf(programId), session, changingCalls('test')[0]?.[2]))).toEqual(CONFLICT);
  }
});

test('a session changes nothing in test if the configuration accepts no test keys', async () => {
  const { session, programId } = await makeDeveloper();
  for (const [method, path, body] of changingCalls('test'))
    expect(codeOf(await send(method, pathOf(programId, path), session, body, livePort))).toEqual(CONFLICT);
  const sandbox = `/api/portal/programs/${programId}/sandbox`;
  const attempt = { challenge_id: newId(), player_ref: 'player-1' };
  for (const [path, body] of [
    ['/players', { player_ref: 'player-1' }],
    ['/attempts', attempt],
    [`/attempts/${newId()}/outcome`, { score: 1 }],
  ] as const)
    expect(codeOf(await send('POST', sandbox + path, session, body, livePort)), path).toEqual(CONFLICT);
  expect(integration.asked).toEqual([]);
});

test('a request must name an existing environment', async () => {
  const { session, programId } = await makeDeveloper();
  const environments = [
    ...allCalls('both').slice(0, 5),
    ...allCalls('').slice(0, 5),
    ['GET', ''],
    ['POST', '', { transport: 'push_webhook' }],
    ['POST', '?environment=test', { transport: 'push_webhook' }],
    ['PATCH', `/${DRAFT.id}`, { status: 'active' }],
    ['PATCH', `/${DRAFT.id}`, { environment: 'test', status: 'active' }],
    ['POST', `/${DRAFT.id}/rotate-secret`],
    ['POST', `/${DRAFT.id}/retire-previous-secret`],
    ['GET', `/${DRAFT.id}/log?environment=test`],
    ['POST', '/dry-run?environment=test', DRY_RUN],
  ] as const;
  for (const [method, path, body] of environments) {
    expect(codeOf(await send(method, pathOf(programId, path), session, body)), `${method} ${path}`).toEqual(INVALID);
  }
  expect(integration.asked).toEqual([]);
});

test('a body with an unknown member is refused', async () => {
  const { session, programId } = await makeDeveloper();
  const where = '?environment=test';
  for (const [method, path, body] of [
    ['POST', '', { environment: 'test', transport: 'push_webhook', other: 1 }],
    ['POST', '', { environment: 'test' }],
    ['POST', '', { environment: 'test', transport: 'pull_poll', pull_interval_seconds: 29 }],
    ['POST', '', `{"environment":"test","transport":"push_webhook","descriptor":{"x":"${'x'.repeat(16 * 1024)}"}}`],
    ['PATCH', `/${DRAFT.id}${where}`, {}],
    ['PATCH', `/${DRAFT.id}${where}`, { status: 'active', transport: 'pull_poll' }],
    ['PATCH', `/nonsense${where}`, { status: 'closed' }],
    ['POST', '/dry-run', { ...DRY_RUN, environment: 'test' }],
  ] as const) {
    const sent = `${method} ${path} ${JSON.stringify(body).slice(0, 80)}`;
    expect(codeOf(await send(method, pathOf(programId, path), session, body)), sent).toEqual(INVALID);
  }
  expect(integration.asked).toEqual([]);
});

test('an integration of another environment is 404', async () => {
  const { session, programId } = await makeDeveloper();
  const routes = (id: string) =>
    [...changingCalls('test').slice(1), allCalls('test')[6] ?? []].map(([method = '', path = '', body]) =>
      send(method, pathOf(programId, path.replace(DRAFT.id, id)), session, body),
    );
  for (const answer of await Promise.all(routes('nonsense'))) expect(codeOf(answer)).toEqual(NOT_FOUND);
  expect(integration.asked).toEqual([]);
  integration.script = {};
  for (const answer of await Promise.all(routes(DRAFT.id))) expect(codeOf(answer)).toEqual(NOT_FOUND);
  expect(integration.asked).toHaveLength(4);
});

test('the log of an integration is requested for the program in the path', async () => {
  const { id, session, programId } = await makeDeveloper();
  const cursor = 'c1';
  integration.script.listLog = async () => ({ entries: [], nextCursor: 'c2' });
  const log = (query: string) => send('GET', pathOf(programId, `/${DRAFT.id}/log${query}`), session);
  const answer = await log(`?limit=2&cursor=${cursor}`);
  expect([answer.status, answer.body]).toEqual([200, { data: [], next_cursor: 'c2' }]);
  await log('');
  const asked = { developerId: id, programId, integrationId: DRAFT.id };
  expect(integration.asked).toEqual([
    ['listLog', { ...asked, cursor, limit: 2 }],
    ['listLog', { ...asked, cursor: '', limit: 100 }],
  ]);
  integration.script.listLog = async () => refused('not_found');
  expect(codeOf(await log(''))).toEqual(NOT_FOUND);
  expect(codeOf(await log('?limit=101'))).toEqual(INVALID);
});

test('a dry run below a program counts against the budget of its developer', async () => {
  const { session, programId } = await makeDeveloper();
  const large = { ...DRY_RUN, sample: 'x'.repeat(240_000) };
  const statuses = [];
  for (const path of ['/api/portal/integrations/dry-run', pathOf(programId, '/dry-run')].flatMap((one) => [
    one,
    one,
    one,
  ])) {
    statuses.push((await send('POST', path, session, large)).status);
  }
  expect(statuses.slice(0, 2)).toEqual([200, 200]);
  expect(statuses).toContain(429);
});
