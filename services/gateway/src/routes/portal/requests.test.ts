/** The request log as two developers see it; every response is checked against the document. */
import { createDatabase, type Database } from '@laurel/postgres';
import { WebhookServiceService } from '@laurel/proto/webhook';
import { createTestDatabase } from '@laurel/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startScriptedIntegration } from '../../clients/integration.fixture.ts';
import { startScriptedService } from '../../clients/scripted-service.fixture.ts';
import { fetchDescribed } from '../../described-answer.fixture.ts';
import { operatorOf, startTestGateway } from '../../gateway.fixture.ts';

/** An id that names no contest service, so that the gateway answers 404 without a call. */
const NO_ATTEMPT = '01a1fda3-5031-7190-ad21-6bfd27e1bae3';

interface Developer {
  readonly programId: string;
  readonly key: string;
  readonly read: (path: string) => ReturnType<typeof fetchDescribed>;
}

const cleanup = new AsyncDisposableStack();
let settings: Record<string, string>;
let superuser: Database;
let port: number;
let ann: Developer;
let bob: Developer;

beforeAll(async () => {
  // The gateway announces programs to both services.
  const integration = cleanup.use(await startScriptedIntegration());
  const webhook = cleanup.use(await startScriptedService(WebhookServiceService, { putProgram: () => ({}) }));
  const { url, runningUrl } = cleanup.use(
    await createTestDatabase({ migrations: new URL('../../../migrations/', import.meta.url) }),
  );
  superuser = cleanup.use(createDatabase({ url, maxConnections: 2, applicationName: 'requests-test' }));
  settings = {
    GATEWAY_DATABASE_URL: runningUrl,
    INTEGRATION_ADDRESS: integration.address,
    WEBHOOK_ADDRESS: webhook.address,
    PORTAL_RATE_LIMIT_PER_MINUTE: '100000',
  };
  ({ port } = cleanup.use(await startTestGateway(settings)));
  [ann, bob] = [await newDeveloper('ann'), await newDeveloper('bob')];
});
afterAll(() => cleanup.disposeAsync());

async function newDeveloper(name: string): Promise<Developer> {
  const operate = operatorOf(port);
  const credentials = { email: `${name}@example.com`, password: 'correct horse battery' };
  const developer = await operate('POST', '/developers', credentials);
  const program = await operate('POST', '/programs', { name, developer_id: developer.body.id });
  expect(program.status).toBe(201);
  const headers = { 'content-type': 'application/json' };
  const session = await fetchDescribed(port, '/api/portal/session', {
    method: 'POST',
    headers,
    body: JSON.stringify(credentials),
  });
  const authorization = `Bearer ${session.body.token}`;
  return {
    programId: program.body.id,
    key: program.body.test_key,
    read: (path) => fetchDescribed(port, `/api/portal/programs/${path}`, { headers: { authorization } }),
  };
}

function call(developer: Developer, method: string, path: string, body?: object, toPort = port) {
  const headers = {
    'x-api-key': developer.key,
    'user-agent': 'arcade/1.0',
    ...(body !== undefined && { 'content-type': 'application/json', 'idempotency-key': 'key-1' }),
  };
  return fetchDescribed(toPort, `/v1${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });
}
const listOf = (developer: Developer, query = '') =>
  developer.read(`${developer.programId}/requests?environment=test${query}`);
/** Reads until the log has a request: it is written after the response. */
async function readUntil(developer: Developer, requestId: string | null) {
  for (;;) {
    const answer = await developer.read(`${developer.programId}/requests/${requestId}`);
    if (answer.status !== 404) return answer;
  }
}

test('a developer finds a request by the id of its response, with redacted bodies', async () => {
  const body = { email: 'player@b.example', player_ref: 5, metadata: { level: 3 } };
  const answer = await call(ann, 'POST', '/players?x=1', body);
  expect(answer.status).toBe(400);
  const requestId = answer.headers.get('x-request-id');
  const found = await readUntil(ann, requestId);
  expect(found.body).toEqual({
    request_id: requestId,
    at: expect.any(String),
    environment: 'test',
    method: 'POST',
    path: '/v1/players?x=1',
    route: '/v1/players',
    status: 400,
    error_code: 'invalid_request',
    duration_ms: expect.any(Number),
    idempotency_key: 'key-1',
    attempt_id: null,
    replayed: false,
    user_agent: 'arcade/1.0',
    request_body: '{"email":"[redacted]","player_ref":5,"metadata":{"level":3}}',
    request_body_truncated: false,
    response_body: answer.text,
    response_body_truncated: false,
  });
  const { user_agent, request_body, response_body, request_body_truncated, response_body_truncated, ...line } =
    found.body;
  const list = await listOf(ann);
  expect(list.body).toEqual({ data: [line], next_cursor: null, head_cursor: expect.any(String) });
});

test("another developer's program and requests are not found", async () => {
  const requestId = (await call(ann, 'GET', '/challenges?limit=nonsense')).headers.get('x-request-id');
  await readUntil(ann, requestId);
  for (const path of [
    `${ann.programId}/requests?environment=test`,
    `${ann.programId}/requests/${requestId}`,
    `${bob.programId}/requests/${requestId}`,
    `${bob.programId}/requests/nonsense`,
  ]) {
    const answer = await bob.read(path);
    expect([path, answer.status, answer.code]).toEqual([path, 404, 'not_found']);
  }
  expect((await listOf(bob)).body.data).toEqual([]);
});

test('the request log is read page by page, and its head cursor leads to newer requests', async () => {
  const sent: (string | null)[] = [];
  for (let n = 0; n < 3; n += 1) {
    sent.push((await call(bob, 'GET', '/challenges?limit=nonsense')).headers.get('x-request-id'));
    await readUntil(bob, sent[n] ?? null);
  }
  const idsOf = ({ body }: Awaited<ReturnType<typeof listOf>>) =>
    body.data.map((line: { request_id: string }) => line.request_id);
  const first = await listOf(bob, '&limit=2');
  expect(idsOf(first)).toEqual([sent[2], sent[1]]);
  const second = await listOf(bob, `&limit=2&cursor=${first.body.next_cursor}`);
  expect([idsOf(second), second.body.next_cursor, second.body.head_cursor]).toEqual([[sent[0]], null, null]);

  const { head_cursor } = first.body;
  expect((await listOf(bob, `&after=${head_cursor}`)).body).toEqual({ data: [], next_cursor: null, head_cursor });
  for (let n = 3; n < 5; n += 1) {
    sent.push((await call(bob, 'GET', `/attempts/${NO_ATTEMPT}`)).headers.get('x-request-id'));
    await readUntil(bob, sent[n] ?? null);
  }
  const newer = await listOf(bob, `&limit=1&after=${head_cursor}`);
  const newest = await listOf(bob, `&limit=1&after=${newer.body.head_cursor}`);
  expect([idsOf(newer), idsOf(newest)]).toEqual([[sent[3]], [sent[4]]]);
  expect(
    idsOf(await listOf(bob, '&error_code=not_found&status=4xx&route=/v1/attempts/%7Battempt_id%7D&method=GET')),
  ).toEqual([sent[4], sent[3]]);
  expect(idsOf(await listOf(bob, '&status=2xx'))).toEqual([]);
  const ofAttempt = await listOf(bob, `&attempt_id=${NO_ATTEMPT.toUpperCase()}`);
  expect(ofAttempt.body.data).toEqual([
    expect.objectContaining({ request_id: sent[4], attempt_id: NO_ATTEMPT }),
    expect.objectContaining({ request_id: sent[3], attempt_id: NO_ATTEMPT }),
  ]);
});

test('an invalid query of the request log is refused', async () => {
  const { head_cursor } = (await listOf(ann)).body;
  for (const query of [
    '&cursor=nonsense',
    '&after=nonsense',
    `&after=${Buffer.from('["-1"]').toString('base64url')}`,
    `&after=${Buffer.from('["9999999999999999999"]').toString('base64url')}`,
    `&cursor=${head_cursor}&after=${head_cursor}`,
    '&status=3xx',
    '&limit=0',
    '&method=get',
    '&attempt_id=nonsense',
  ]) {
    const answer = await listOf(ann, query);
    expect([query, answer.status, answer.code]).toEqual([query, 400, 'invalid_request']);
  }
  expect((await ann.read(`${ann.programId}/requests`)).status).toBe(400);
});

test('requests succeed while the request log cannot be written', async () => {
  await superuser.query({ text: 'alter table request_batches rename to request_batches_away' });
  const lost = await call(ann, 'GET', '/challenges?limit=nonsense');
  expect(lost.status).toBe(400);
  // When this gateway has stopped, it has dropped all of its lines.
  {
    await using other = await startTestGateway(settings);
    expect((await call(ann, 'GET', '/challenges?limit=nonsense', undefined, other.port)).status).toBe(400);
  }
  await superuser.query({ text: 'alter table request_batches_away rename to request_batches' });
  const later = await call(ann, 'GET', '/challenges?limit=nonsense');
  expect((await readUntil(ann, later.headers.get('x-request-id'))).status).toBe(200);
});

test('a gateway that stops writes the last lines of its request log', async () => {
  const send = async (own: Record<string, string>) => {
    await using gateway = await startTestGateway({ ...settings, ...own });
    const { headers } = await call(ann, 'GET', '/challenges?limit=nonsense', undefined, gateway.port);
    return headers.get('x-request-id');
  };
  const written = await send({});
  const unwritten = await send({ REQUEST_LOG_ENABLED: 'false' });
  expect((await ann.read(`${ann.programId}/requests/${written}`)).status).toBe(200);
  expect((await ann.read(`${ann.programId}/requests/${unwritten}`)).status).toBe(404);
});
