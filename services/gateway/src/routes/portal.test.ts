/**
 * Two gateways on one database. The webhook and the integration service are scripted. The tests
 * check which calls each gets, and how its results are shown.
 */
import { randomBytes } from 'node:crypto';
import { refused } from '@laurel/errors';
import { type Handlers, implement, startGrpcServer } from '@laurel/grpc';
import { createDatabase, type Database } from '@laurel/postgres';
import { Environment } from '@laurel/proto/common';
import { LogKind, RecordStatus, Transport } from '@laurel/proto/integration';
import { DeliveryStatus, type Endpoint, WebhookServiceService } from '@laurel/proto/webhook';
import { createLogger } from '@laurel/service';
import { createTestClock, createTestDatabase, EVENT_TYPES } from '@laurel/testing';
import { newId } from '@laurel/values/ids';
import type { Request } from 'express';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { isOwnPage } from '../admission/own-page.ts';
import { type ScriptedIntegration, startScriptedIntegration } from '../clients/integration.fixture.ts';
import { fetchDescribed } from '../described-answer.fixture.ts';
import { inOneMinute, OPERATOR_TOKEN, startTestGateway, UNREACHABLE } from '../gateway.fixture.ts';
import { DOCUMENTED_EVENTS } from '../openapi/event-schemas.ts';
import { PORTAL_ROUTES } from './portal/index.ts';
import { SANDBOX_ROUTES } from './sandbox/index.ts';

type Service = Handlers<typeof WebhookServiceService>;

const PASSWORD = 'correct horse battery';
const HOUR_MS = 3_600_000;
const AT = new Date('2026-11-21T12:00:00.000Z');

const stack = new AsyncDisposableStack();
const clock = createTestClock();
let database: Database;
let integration: ScriptedIntegration;
let ports: number[];
let lines: string[] = [];
let script: { -readonly [Rpc in keyof Service]?: Service[Rpc] } = {};
let asked: [string, object][] = [];

/** The logged actions of developers and operators. Between them the gateway may log other lines. */
function actionLines() {
  return lines.map((line) => JSON.parse(line)).filter((line) => 'actor' in line);
}

beforeAll(async () => {
  const silent = createLogger({ service: 'webhook', level: 'silent' });
  const logger = createLogger({
    service: 'gateway',
    level: 'info',
    destination: { write: (line: string) => void lines.push(line) },
  });
  const scripted = Object.keys(WebhookServiceService).map((rpc) => [
    rpc,
    async (request: object, context: never) => {
      // An announced change of a program may arrive at any time.
      if (!('version' in request) || request.version === 0n) asked.push([rpc, request]);
      const answer = script[rpc as keyof Service] as ((request: object, context: never) => object) | undefined;
      return answer === undefined ? refused('not_found') : answer(request, context);
    },
  ]);
  const service = stack.use(
    await startGrpcServer({
      host: '127.0.0.1',
      port: 0,
      services: [
        implement(WebhookServiceService, Object.fromEntries(scripted), { logger: silent, callers: ['gateway'] }),
      ],
      logger: silent,
    }),
  );
  integration = stack.use(await startScriptedIntegration());
  const { url, runningUrl } = stack.use(
    await createTestDatabase({ migrations: new URL('../../migrations/', import.meta.url) }),
  );
  database = stack.use(createDatabase({ url, maxConnections: 2, applicationName: 'portal-test' }));
  const start = (webhookAddress: string) =>
    startTestGateway(
      {
        GATEWAY_DATABASE_URL: runningUrl,
        WEBHOOK_ADDRESS: webhookAddress,
        INTEGRATION_ADDRESS: integration.address,
        // All tests here come from one address.
        PORTAL_SIGN_IN_FAILURES_PER_ADDRESS: '1000',
        PORTAL_RATE_LIMIT_PER_MINUTE: '100000',
        API_FAILURES_PER_MINUTE: '100000',
      },
      { logger, clock },
    );
  const address = `127.0.0.1:${service.port}`;
  ports = [
    stack.use(await start(address)).port,
    stack.use(await start(address)).port,
    stack.use(await start(UNREACHABLE)).port,
  ];
}, 60_000);
afterAll(() => stack.disposeAsync());
beforeEach(() => {
  lines = [];
  asked = [];
  script = { putProgram: async () => ({}) };
  integration.script = {};
  integration.asked.length = 0;
});

interface Sent {
  readonly replica?: number;
  readonly token?: string;
  readonly cookie?: string;
  readonly body?: unknown;
  /** The text that is sent verbatim, in place of `body`. */
  readonly text?: string;
  readonly headers?: Record<string, string>;
}

async function send(method: string, path: string, options: Sent = {}) {
  const { replica = 0, token, cookie, body, text: raw, headers } = options;
  return fetchDescribed(ports[replica] ?? 0, path, {
    method,
    headers: {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(cookie !== undefined && { cookie }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(raw !== undefined && { body: raw }),
  });
}

const codeOf = (answer: Awaited<ReturnType<typeof send>>) => [answer.status, answer.body?.error?.code];
const portal = (method: string, path: string, options?: Sent) => send(method, `/api/portal${path}`, options);
const operate = (method: string, path: string, body: unknown, replica = 0) =>
  send(method, `/api/operator${path}`, { replica, token: OPERATOR_TOKEN, body });
const signIn = (email: string, password = PASSWORD, replica = 0) =>
  portal('POST', '/session', { replica, body: { email, password } });

let developers = 0;
/** A developer who is signed in, with one program. */
async function makeDeveloper() {
  developers += 1;
  const email = `dev${developers}@example.com`;
  const { id } = (await operate('POST', '/developers', { email, password: PASSWORD })).body;
  const program = (await operate('POST', '/programs', { name: 'Arcade', developer_id: id })).body;
  const { token } = (await signIn(email)).body;
  asked = [];
  lines = [];
  return { id, email, token: token as string, programId: program.id as string, testKey: program.test_key as string };
}

/** The routes that need a session, each with an id that names nothing. */
const ROUTES = PORTAL_ROUTES.map(({ method, path, query }) => ({
  method: method.toUpperCase(),
  path: path.replace(/\{\w+\}/g, newId()),
  /** The query parameters without which the route cannot be called. */
  needed: query?.safeParse({}).success === false ? '?environment=test' : '',
}));

/** Everything in a response that does not identify the single request. */
const shapeOf = ({ status, text, headers }: Awaited<ReturnType<typeof send>>) => ({
  status,
  text,
  headers: [...headers].filter(([name]) => !['x-request-id', 'date'].includes(name)),
});

const NOT_FOUND = [404, 'not_found'];
const INVALID = [400, 'invalid_request'];
const UNAUTHORIZED = [401, 'unauthorized'];

describe('signing in', () => {
  test('a sign-in returns a token that every replica accepts, as a bearer or in a cookie', async () => {
    const { email } = await makeDeveloper();
    const answer = await signIn(email.toUpperCase());
    expect([answer.status, answer.body]).toEqual([201, { token: expect.stringMatching(/^[\w-]{43}$/) }]);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    const [cookie = '', ...attributes] = (answer.headers.get('set-cookie') ?? '').split('; ');
    expect(cookie).toBe(`laurel_session=${answer.body.token}`);
    expect(attributes.sort()).toEqual(['HttpOnly', 'Max-Age=43200', 'Path=/api/portal', 'SameSite=Strict', 'Secure']);
    for (const replica of [0, 1]) {
      expect((await portal('GET', '/programs', { replica, token: answer.body.token })).status).toBe(200);
      expect((await portal('GET', '/programs', { replica, cookie: `a=b; ${cookie}` })).status).toBe(200);
    }
  });

  test('every sign-in starts a new session and leaves the other sessions open', async () => {
    const { email, token } = await makeDeveloper();
    const tokens = [token];
    for (let time = 0; time < 4; time += 1) tokens.push((await signIn(email)).body.token);
    expect(new Set(tokens).size).toBe(5);
    for (const each of tokens) expect((await portal('GET', '/programs', { token: each })).status).toBe(200);
  });

  test('a wrong password and an unknown e-mail get the same response, byte for byte', async () => {
    const { email, programId } = await makeDeveloper();
    const answers = [];
    for (const password of ['wrong', '', `${PASSWORD} `, PASSWORD.toUpperCase(), 'x'.repeat(1_000)]) {
      answers.push(await signIn(email, password));
      // After this time no wait of an earlier failure is left, so that each password is checked.
      clock.advance(60_000);
    }
    for (const [unknown, password] of [
      ['unknown@example.com', PASSWORD],
      ['unknown@example.com', ''],
      [`${programId}@example.com`, OPERATOR_TOKEN],
    ] as const) {
      answers.push(await signIn(unknown, password));
    }
    const [first] = answers.map(shapeOf);
    expect(answers[0]?.body).toEqual({ error: { code: 'unauthorized', message: expect.stringMatching(/\S/) } });
    expect(answers[0]?.headers.get('set-cookie')).toBeNull();
    expect(first?.status).toBe(401);
    for (const answer of answers) expect(shapeOf(answer)).toEqual(first);
  });

  test('only 5 of 200 wrong passwords over all replicas are checked', async () => {
    const { email, token } = await makeDeveloper();
    const other = await makeDeveloper();
    for (const subject of [email, 'throttled@example.com']) {
      const answers = await Promise.all(
        Array.from({ length: 200 }, (_, index) => signIn(subject, `wrong ${index}`, index % 2)),
      );
      expect(answers.filter(({ status }) => status === 401)).toHaveLength(5);
      const refusedOnes = answers.filter(({ status }) => status === 429);
      expect(refusedOnes).toHaveLength(195);
      const resetAt = new Date(clock().getTime() + 1_000).toISOString();
      expect(refusedOnes[0]?.body).toEqual({
        error: 'Too many requests.',
        retry_after: 1,
        limit: 5,
        reset_at: resetAt,
      });
      for (const { headers } of refusedOnes) {
        expect([headers.get('retry-after'), headers.get('cache-control')]).toEqual(['1', 'no-store']);
      }
    }
    // The right password gets the same response, in any case of the e-mail. Another developer and
    // an open session are not affected.
    for (const replica of [0, 1]) {
      expect((await signIn(email, PASSWORD, replica)).status).toBe(429);
      expect((await signIn(email.toUpperCase(), PASSWORD, replica)).status).toBe(429);
      expect((await signIn(other.email, PASSWORD, replica)).status).toBe(201);
    }
    expect((await portal('GET', '/programs', { token })).status).toBe(200);
    clock.advance(1_000);
    expect((await signIn(email, 'wrong')).status).toBe(401);
    expect((await signIn(email)).headers.get('retry-after')).toBe('2');
    clock.advance(2_000);
    expect((await signIn(email)).status).toBe(201);
    // A sign-in with the right password is not counted as a failure, so the wait, which is over,
    // does not start again.
    expect((await signIn(email)).status).toBe(201);
  }, 60_000);

  test('a sign-in with the right password does not count as a failure', async () => {
    const { email } = await makeDeveloper();
    const answers = await Promise.all(Array.from({ length: 24 }, (_, index) => signIn(email, PASSWORD, index % 2)));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
    expect((await signIn(email, 'wrong')).status).toBe(401);
    // The right password does not delete earlier failures either.
    for (let failure = 2; failure <= 5; failure += 1) {
      expect((await signIn(email)).status).toBe(201);
      expect((await signIn(email, 'wrong')).status).toBe(401);
    }
    expect(await signIn(email)).toMatchObject({ status: 429, body: { limit: 5 } });
  }, 30_000);

  test('a sign-in is logged with the developer’s id, without e-mail, password or token', async () => {
    const { id, email } = await makeDeveloper();
    const { token } = (await signIn(email)).body;
    await signIn(email, 'wrong password');
    await portal('DELETE', '/session', { token });
    expect(actionLines()).toMatchObject([
      { actor: 'developer', developerId: id, action: 'sign_in', result: 'done', requestId: expect.any(String) },
      { actor: 'developer', developerId: id, action: 'sign_out', result: 'done', requestId: expect.any(String) },
    ]);
    for (const secret of [email, PASSWORD, 'wrong password', token]) expect(lines.join()).not.toContain(secret);
  });

  test('a sign-in stores neither its token nor its e-mail in plain text', async () => {
    const { email, token } = await makeDeveloper();
    await signIn(email, 'wrong');
    const rows = await database.query<{ row: string }>({
      text: 'select s::text as row from sessions s union all select f::text from sign_in_failures f union all select c::text from known_clients c',
    });
    const text = rows.map(({ row }) => row).join();
    expect(rows.length).toBeGreaterThan(1);
    for (const secret of [token, Buffer.from(token, 'base64url').toString('hex'), email]) {
      expect(text).not.toContain(secret);
    }
  });
});

describe('signing in with a one-time link', () => {
  const linkOf = async (developerId: string) =>
    (await operate('POST', `/developers/${developerId}/sign-in-link`, undefined)).body as { token: string };
  const enter = (token: unknown, replica = 0) => portal('POST', '/session/link', { replica, body: { token } });

  test('a sign-in link works once', async () => {
    const { id } = await makeDeveloper();
    const made = await operate('POST', `/developers/${id}/sign-in-link`, undefined);
    const expiresAt = new Date(clock().getTime() + 15 * 60_000).toISOString();
    expect([made.status, made.body]).toEqual([
      201,
      { token: expect.stringMatching(/^[\w-]{43}$/), expires_at: expiresAt },
    ]);
    const answer = await enter(made.body.token, 1);
    expect([answer.status, answer.body]).toEqual([201, { token: expect.stringMatching(/^[\w-]{43}$/) }]);
    const [cookie = '', ...attributes] = (answer.headers.get('set-cookie') ?? '').split('; ');
    expect(attributes.sort()).toEqual(['HttpOnly', 'Max-Age=43200', 'Path=/api/portal', 'SameSite=Strict', 'Secure']);
    expect((await portal('GET', '/me', { cookie })).body).toMatchObject({ id });
    expect(codeOf(await enter(made.body.token))).toEqual(UNAUTHORIZED);
    expect(codeOf(await operate('POST', `/developers/${newId()}/sign-in-link`, undefined))).toEqual(NOT_FOUND);
    expect(codeOf(await operate('POST', '/developers/nonsense/sign-in-link', undefined))).toEqual(NOT_FOUND);
  });

  test('every unusable token of a link gets the same response, byte for byte', async () => {
    const { id, token: session, testKey } = await makeDeveloper();
    const [used, expired] = [await linkOf(id), await linkOf(id)];
    expect((await enter(used.token)).status).toBe(201);
    clock.advance(15 * 60_000);
    const answers = [];
    for (const token of [used.token, expired.token, randomBytes(32).toString('base64url'), '', 'x'.repeat(1_000)]) {
      answers.push(await enter(token));
    }
    for (const token of [session, testKey, OPERATOR_TOKEN, id]) answers.push(await enter(token));
    expect(answers[0]?.status).toBe(401);
    expect(answers[0]?.headers.get('set-cookie')).toBeNull();
    for (const answer of answers) expect(shapeOf(answer)).toEqual(shapeOf(answers[0] as (typeof answers)[0]));
    for (const body of [{}, { token: 5 }, { token: null }, { token: 'x'.repeat(1_001) }, { token: 'a', next: '/' }]) {
      expect(codeOf(await portal('POST', '/session/link', { body }))).toEqual(INVALID);
    }
  });

  test('only one of 20 concurrent exchanges of a sign-in link succeeds', async () => {
    const { id } = await makeDeveloper();
    const { token } = await linkOf(id);
    const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => enter(token, index % 2)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    for (const { status } of answers) expect([201, 401, 429]).toContain(status);
  });

  test('after five refusals of a sign-in link’s token, the next exchange has to wait', async () => {
    const token = randomBytes(32).toString('base64url');
    for (let failure = 1; failure <= 5; failure += 1) expect((await enter(token)).status).toBe(401);
    expect(await enter(token, 1)).toMatchObject({ status: 429, body: { limit: 5, retry_after: 1 } });
  });

  test('the token of a link is never logged or stored in plain text', async () => {
    const { id } = await makeDeveloper();
    const [{ token }, unused] = [await linkOf(id), await linkOf(id)];
    await enter(token);
    expect(actionLines()).toMatchObject([
      { actor: 'operator', action: 'create_sign_in_link', result: 'done', developerId: id },
      { actor: 'operator', action: 'create_sign_in_link', result: 'done', developerId: id },
      { actor: 'developer', action: 'sign_in_by_link', result: 'done', developerId: id },
    ]);
    const actions = await send('GET', `/api/operator/actions?subject=developer:${id}`, { token: OPERATOR_TOKEN });
    expect(actions.body.data).toMatchObject([
      { action: 'create_sign_in_link', after: { token: '[redacted]' } },
      { action: 'create_sign_in_link', after: { token: '[redacted]' } },
      { action: 'create_developer' },
    ]);
    const rows = await database.query<{ row: string }>({
      text: 'select l::text as row from sign_in_links l union all select s::text from sessions s union all select f::text from sign_in_failures f',
    });
    const text = [...rows.map(({ row }) => row), ...lines, actions.text].join();
    for (const secret of [token, unused.token]) {
      expect(text).not.toContain(secret);
      expect(text).not.toContain(Buffer.from(secret, 'base64url').toString('hex'));
    }
  });
});

describe('sessions', () => {
  test('every call without a valid session gets the same response', async () => {
    const { id, email, token, programId, testKey } = await makeDeveloper();
    const liveKey = (await operate('POST', `/programs/${programId}/approve`, undefined)).body.live_key;
    const signedOut = (await signIn(email)).body.token;
    expect((await portal('DELETE', '/session', { token: signedOut })).status).toBe(204);
    const flipped = (at: number) => `${token.slice(0, at)}${token[at] === 'a' ? 'b' : 'a'}${token.slice(at + 1)}`;
    const causes: Record<string, string>[] = [
      {},
      ...[
        ...['', 'Bearer', 'Bearer ', 'Bearer nonsense', `Basic ${token}`, token],
        ...[`Bearer ${token} ${token}`, `Bearer ${token}, Bearer ${token}`],
      ].map((authorization) => ({ authorization })),
      ...[
        ...[randomBytes(32).toString('base64url'), flipped(0), flipped(42), `${token}a`, token.slice(0, -1)],
        ...[token.toUpperCase(), signedOut, 'x'.repeat(10_000), "' or '1'='1", OPERATOR_TOKEN, testKey, liveKey, id],
      ].flatMap((foreign) => [{ authorization: `Bearer ${foreign}` }, { cookie: `laurel_session=${foreign}` }]),
      { cookie: 'laurel_session' },
      { cookie: 'laurel_session=' },
      // Another host of the site may have set one of the two.
      { cookie: `laurel_session=${token}; laurel_session=${token}` },
      { cookie: `laurel_session=${token};laurel_session=` },
      { cookie: `other=${token}` },
      { cookie: `LAUREL_SESSION=${token}` },
      { 'x-api-key': token },
      { 'x-api-key': testKey },
      // The bearer token counts, even beside a valid cookie.
      { authorization: 'Bearer nonsense', cookie: `laurel_session=${token}` },
    ];
    asked = [];
    const missing = await portal('GET', '/programs');
    expect([missing.status, missing.body]).toEqual([
      401,
      { error: { code: 'unauthorized', message: expect.stringMatching(/\S/) } },
    ]);
    for (const headers of causes) {
      const answer = await portal('GET', '/programs', { headers });
      expect(shapeOf(answer), JSON.stringify(headers).slice(0, 200)).toEqual(shapeOf(missing));
    }
    for (const { method, path } of [
      ...ROUTES,
      { method: 'GET', path: '/nothing' },
      { method: 'PUT', path: '/programs' },
      { method: 'GET', path: '/session' },
      { method: 'OPTIONS', path: '/programs' },
      { method: 'GET', path: '/webhook-endpoints/%E0%A4%A' },
      { method: 'GET', path: `/programs?token=${token}&laurel_session=${token}` },
    ]) {
      for (const options of [{}, { token: signedOut }, { headers: { 'sec-fetch-site': 'cross-site' } }]) {
        expect(shapeOf(await portal(method, path, options)), `${method} ${path}`).toEqual(shapeOf(missing));
      }
    }
    expect([...asked, ...integration.asked]).toEqual([]);
  });

  test('a session is accepted in a header with any case of the scheme, and in a cookie', async () => {
    const { token } = await makeDeveloper();
    for (const headers of [
      { authorization: `bearer ${token}` },
      { authorization: `BEARER   ${token}` },
      { cookie: `a=b; laurel_session=${token}; c=d` },
      { cookie: `laurel_session=${token}`, authorization: 'Basic eDp5' },
    ]) {
      expect((await portal('GET', '/programs', { headers })).status).toBe(200);
    }
  });

  test('a sign-out ends only its own session, immediately on every replica', async () => {
    const { email } = await makeDeveloper();
    const other = (await signIn(email)).body.token;
    const open = (replica: number, bearer: string) => portal('GET', '/programs', { replica, token: bearer });
    for (const as of ['cookie', 'bearer']) {
      const token = (await signIn(email)).body.token;
      expect((await open(1, token)).status).toBe(200);
      const by = as === 'bearer' ? { token } : { cookie: `laurel_session=${token}` };
      const signOut = () => portal('DELETE', '/session', { ...by, headers: { 'sec-fetch-site': 'same-origin' } });
      const out = await signOut();
      expect([out.status, out.text]).toEqual([204, '']);
      expect(out.headers.get('set-cookie')).toMatch(/^laurel_session=; Max-Age=0; Path=\/api\/portal; HttpOnly/);
      for (const replica of [0, 1]) {
        expect((await open(replica, token)).status).toBe(401);
        expect((await open(replica, other)).status).toBe(200);
      }
      expect((await signOut()).status).toBe(401);
    }
  });

  test('parallel sign-outs of one session end the session', async () => {
    const { token } = await makeDeveloper();
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => portal('DELETE', '/session', { token, replica: index % 2 })),
    );
    const statuses = answers.map(({ status }) => status);
    expect(statuses).toContain(204);
    expect(new Set([...statuses, 204, 401])).toEqual(new Set([204, 401]));
    for (const replica of [0, 1]) expect((await portal('GET', '/programs', { token, replica })).status).toBe(401);
  });

  test('a session shows its developer and its end', async () => {
    const { id, email } = await makeDeveloper();
    const other = await makeDeveloper();
    const signedInAt = clock();
    const { token } = (await signIn(email)).body;
    clock.advance(60_000);
    const me = await portal('GET', '/me', { token, replica: 1 });
    const end = new Date(signedInAt.getTime() + 12 * HOUR_MS).toISOString();
    expect([me.status, me.body]).toEqual([200, { id, email, session_expires_at: end }]);
    expect((await portal('GET', '/me', { token: other.token })).body).toMatchObject({ id: other.id });
    await portal('DELETE', '/session', { token });
    expect(codeOf(await portal('GET', '/me', { token }))).toEqual(UNAUTHORIZED);
  });

  test('a session expires after 12 hours', async () => {
    const { email, token } = await makeDeveloper();
    clock.advance(12 * HOUR_MS - 1);
    expect((await portal('GET', '/programs', { token })).status).toBe(200);
    clock.advance(1);
    expect((await portal('GET', '/programs', { token })).status).toBe(401);
    const next = (await signIn(email)).body.token;
    expect((await portal('GET', '/programs', { token: next })).status).toBe(200);
  });

  test('a session cookie allows a change only to a page that proves its origin', async () => {
    const { token } = await makeDeveloper();
    const cookie = `laurel_session=${token}`;
    const host = `127.0.0.1:${ports[0]}`;
    const change = async (headers: Record<string, string>) =>
      codeOf(await portal('PATCH', '/webhook-endpoints/x', { cookie, body: { active: true }, headers }));
    for (const headers of [
      { 'sec-fetch-site': 'same-origin' },
      { 'sec-fetch-site': 'same-origin', origin: 'https://proxied.example' },
      { origin: `http://${host}` },
      { origin: `https://${host}` },
    ]) {
      expect(await change(headers)).toEqual(NOT_FOUND);
    }
    for (const headers of [
      {},
      { 'sec-fetch-site': 'none' },
      { 'sec-fetch-site': '' },
      { 'sec-fetch-site': 'same-origin, same-origin' },
      { 'sec-fetch-site': 'cross-site', origin: `http://${host}` },
      { 'sec-fetch-site': 'none', origin: `http://${host}` },
      { origin: 'null' },
      { origin: '' },
      { origin: host },
      { origin: 'https://evil.example' },
      { origin: `http://${host}.evil.example` },
      { origin: `http://${host.split(':')[0]}:1` },
      { origin: `ftp://${host}` },
      { referer: `http://${host}/` },
    ]) {
      expect(await change(headers)).toEqual([403, 'forbidden']);
    }
    // Signing out is a change too.
    expect(codeOf(await portal('DELETE', '/session', { cookie }))).toEqual([403, 'forbidden']);
    expect((await portal('GET', '/programs', { cookie })).status).toBe(200);
  });

  test('a page without TLS changes nothing if the cookie needs TLS', () => {
    const of = (origin: string) =>
      ({ headers: { host: 'Laurel.example:443' }, headersDistinct: { origin: [origin] } }) as unknown as Request;
    expect([isOwnPage(of('https://laurel.example'), true), isOwnPage(of('http://laurel.example'), true)]).toEqual([
      true,
      false,
    ]);
  });

  test('a session cookie allows no change by another site’s page', async () => {
    const { token } = await makeDeveloper();
    const cookie = `laurel_session=${token}`;
    script.listEndpoints = async () => ({ endpoints: [] });
    const change = (site: string | undefined, by: Sent) =>
      portal('PATCH', '/webhook-endpoints/x', {
        ...by,
        body: { active: true },
        ...(site !== undefined && { headers: { 'sec-fetch-site': site } }),
      });
    for (const site of ['cross-site', 'same-site']) {
      for (const { method, path, needed } of [...ROUTES, { method: 'POST', path: '/nowhere', needed: '' }]) {
        const answer = await portal(method, `${path}${needed}`, { cookie, headers: { 'sec-fetch-site': site } });
        // A page of another site may send a GET: 200 if the resource exists, 404 if the id names
        // nothing.
        if (method === 'GET') expect([200, 404], `${method} ${path}`).toContain(answer.status);
        else expect(codeOf(answer), `${method} ${path}`).toEqual([403, 'forbidden']);
      }
      expect(codeOf(await change(site, { token }))).toEqual(NOT_FOUND);
    }
    const reads = new Set([...asked, ...integration.asked].map(([rpc]) => rpc));
    expect(reads).toEqual(
      new Set(['listEndpoints', 'getEndpoint', 'listDeliveries', 'getEndpointStats', 'getDelivery', 'listLog']),
    );
    for (const site of ['same-origin', 'none', undefined]) {
      expect(codeOf(await change(site, { token }))).toEqual(NOT_FOUND);
    }
    expect(codeOf(await change('same-origin', { cookie }))).toEqual(NOT_FOUND);
  });

  test('the portal sends no CORS headers to a page of another origin', async () => {
    const { token } = await makeDeveloper();
    const cookie = `laurel_session=${token}`;
    const asking = { origin: 'https://evil.example', 'access-control-request-method': 'POST' };
    for (const answer of [
      await portal('OPTIONS', '/programs', { cookie, headers: asking }),
      await portal('GET', '/programs', { cookie, headers: { origin: 'https://evil.example' } }),
    ]) {
      expect([...answer.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
    }
  });
});

test('the portal serves only its own routes', async () => {
  const { token, testKey } = await makeDeveloper();
  for (const [method, path] of [
    ['PUT', '/programs'],
    ['POST', '/programs'],
    ['GET', `/programs/${newId()}`],
    ['GET', `/programs/${newId()}/test-key`],
    ['PUT', `/webhook-endpoints/${newId()}`],
    ['POST', `/webhook-endpoints/${newId()}`],
    ['PUT', `/deliveries/${newId()}`],
    ['GET', `/deliveries/${newId()}/resend`],
    ['GET', '/session'],
    ['GET', '/'],
    ['GET', '/nowhere'],
    ['POST', '/webhook-endpoints/rotate-secret'],
    ...ROUTES.map(({ path }) => ['OPTIONS', path] as const),
  ] as const) {
    expect(codeOf(await portal(method, path, { token })), `${method} ${path}`).toEqual(NOT_FOUND);
  }
  for (const path of ['/programs', '/developers', '/nowhere']) {
    expect(codeOf(await operate('OPTIONS', path, undefined))).toEqual(NOT_FOUND);
  }
  const sandbox = await send('OPTIONS', '/api/sandbox/players', { headers: { 'x-api-key': testKey } });
  expect(codeOf(sandbox)).toEqual(NOT_FOUND);
  expect([...asked, ...integration.asked]).toEqual([]);
});

test('every route under /api refuses an unknown query parameter', async () => {
  const { token, testKey } = await makeDeveloper();
  const body = { email: 'dev@example.com', password: PASSWORD };
  expect(codeOf(await portal('POST', '/session?next=/', { body }))).toEqual(INVALID);
  for (const { method, path } of ROUTES) {
    expect(codeOf(await portal(method, `${path}?unknown=1`, { token })), `${method} ${path}`).toEqual(INVALID);
  }
  const sandbox = await send('POST', `/api/sandbox/rounds/${newId()}/close?now=1`, {
    headers: { 'x-api-key': testKey },
  });
  expect(codeOf(sandbox)).toEqual(INVALID);
  expect(codeOf(await operate('GET', '/programs?Limit=1', undefined))).toEqual(INVALID);
  expect(
    codeOf(await operate('POST', '/developers?dry_run=1', { email: 'dry@example.com', password: PASSWORD })),
  ).toEqual(INVALID);
  expect(codeOf(await signIn('dry@example.com'))).toEqual(UNAUTHORIZED);
  expect([...asked, ...integration.asked]).toEqual([]);
});

describe('programs in the portal', () => {
  test('programs in the portal are those of the developer, newest first, page by page', async () => {
    const { id, token, programId } = await makeDeveloper();
    const other = await makeDeveloper();
    const { live_key: liveKey } = (await operate('POST', `/programs/${programId}/approve`, undefined)).body;
    const second = (await operate('POST', '/programs', { name: 'Second', developer_id: id })).body;
    const all = await portal('GET', '/programs', { token });
    expect(all.body.data.map((program: { id: string }) => program.id)).toEqual([second.id, programId]);
    expect(all.body.next_cursor).toBeNull();
    const { test_key: _key, developer_id: _developer, ...shown } = second;
    expect(all.body.data[0]).toEqual(shown);
    expect(all.body.data[1]).toMatchObject({
      status: 'approved',
      keys: [{ environment: 'test' }, { environment: 'live', last4: liveKey.slice(-4) }],
    });
    const others = await portal('GET', '/programs', { token: other.token });
    expect(others.body.data.map((program: { id: string }) => program.id)).toEqual([other.programId]);
    const first = await portal('GET', '/programs?limit=1', { token });
    expect(first.body).toEqual({ data: [shown], next_cursor: second.id });
    const rest = await portal('GET', `/programs?limit=1&cursor=${second.id}`, { token });
    expect(rest.body).toMatchObject({ data: [{ id: programId }], next_cursor: null });
    for (const query of [
      ...['limit=0', 'limit=201', 'limit=-1', 'limit=1.5', 'limit=', 'limit=all', 'limit=1&limit=2'],
      ...['cursor=', 'cursor=nonsense', 'cursor=%00', `cursor=${'a'.repeat(256)}`],
      `cursor=${newId()}&cursor=${newId()}`,
    ]) {
      expect(codeOf(await portal('GET', `/programs?${query}`, { token })), query).toEqual(INVALID);
    }
  });

  test('a new test key in the portal stops the old one immediately on every replica', () =>
    inOneMinute(database, async () => {
      const { id, token, programId, testKey } = await makeDeveloper();
      const { live_key: liveKey } = (await operate('POST', `/programs/${programId}/approve`, undefined)).body;
      const used: number[] = [];
      const use = async (key: string, replica: number) => {
        const { status, headers } = await send('GET', '/v1/nothing', { replica, headers: { 'x-api-key': key } });
        if (status !== 401) used.push(Number(headers.get('x-ratelimit-remaining')));
        return status;
      };
      /**
       * An attempt that uses an idempotency key. One statement admits a known API key and locks the
       * idempotency key.
       */
      const create = async (key: string, replica: number) => {
        const headers = { 'x-api-key': key, 'idempotency-key': newId() };
        const body = { challenge_id: newId(), player_ref: 'a' };
        return (await send('POST', '/v1/attempts', { replica, headers, body })).status;
      };
      expect([await use(testKey, 0), await use(testKey, 1)]).toEqual([404, 404]);
      lines = [];
      const answer = await portal('POST', `/programs/${programId.toUpperCase()}/test-key`, { token });
      expect([answer.status, answer.body]).toEqual([200, { test_key: expect.stringMatching(/^sk_test_\w{49}$/) }]);
      for (const replica of [0, 1]) {
        expect([await use(testKey, replica), await use(answer.body.test_key, replica)]).toEqual([401, 404]);
      }
      // The new key continues the old one's count in the same minute.
      expect(used).toEqual([0, 1, 2, 3].map((count) => Number(used[0]) - count));
      expect(actionLines()).toMatchObject([
        { actor: 'developer', developerId: id, action: 'replace_test_key', result: 'done' },
      ]);
      expect(lines.join()).not.toContain('sk_test_');
      expect(answer.headers.get('cache-control')).toBe('no-store');
      expect(answer.body.test_key).not.toBe(testKey);
      for (const replica of [0, 1]) {
        expect([await create(testKey, replica), await create(answer.body.test_key, replica)]).toEqual([401, 500]);
        for (const [key, status] of [
          [testKey, 401],
          [answer.body.test_key, 404],
        ]) {
          const sandbox = await send('POST', '/api/sandbox/nothing', { replica, headers: { 'x-api-key': key } });
          expect(sandbox.status).toBe(status);
        }
        const live = await send('GET', '/v1/nothing', { replica, headers: { 'x-api-key': liveKey } });
        expect(live.status).toBe(404);
      }
      const [shown] = (await portal('GET', '/programs', { token })).body.data;
      expect(shown.keys.map(({ environment, last4 }: Record<string, string>) => [environment, last4]).sort()).toEqual([
        ['live', liveKey.slice(-4)],
        ['test', answer.body.test_key.slice(-4)],
      ]);
    }));

  test('a program has exactly one working test key after 20 concurrent replacements on two replicas', async () => {
    const { token, programId, testKey } = await makeDeveloper();
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        portal('POST', `/programs/${programId}/test-key`, { token, replica: index % 2 }),
      ),
    );
    const made = answers.map(({ body }) => body.test_key as string);
    expect(new Set(made).size).toBe(20);
    const statuses = await Promise.all(
      [testKey, ...made].map(
        async (key) => (await send('GET', '/v1/nothing', { headers: { 'x-api-key': key } })).status,
      ),
    );
    expect(statuses.filter((status) => status === 404)).toHaveLength(1);
    expect(statuses.filter((status) => status === 401)).toHaveLength(20);
    const working = made[statuses.indexOf(404) - 1];
    const [shown] = (await portal('GET', '/programs', { token })).body.data;
    expect(shown.keys).toMatchObject([{ environment: 'test', last4: working?.slice(-4) }]);
    expect(shown.keys).toHaveLength(1);
  });

  test('the test key of a suspended program can be replaced', async () => {
    const { token, programId } = await makeDeveloper();
    const suspended = await operate('PATCH', `/programs/${programId}`, { status: 'suspended' });
    expect(suspended.status).toBe(200);
    expect((await portal('GET', '/programs', { token })).body.data).toMatchObject([{ status: 'suspended' }]);
    const { test_key: key } = (await portal('POST', `/programs/${programId}/test-key`, { token })).body;
    const statuses = () =>
      Promise.all(
        [0, 1].map(async (replica) => {
          const answer = await send('GET', '/v1/nothing', { replica, headers: { 'x-api-key': key } });
          return answer.status;
        }),
      );
    expect(await statuses()).toEqual([401, 401]);
    expect((await operate('PATCH', `/programs/${programId}`, { status: 'approved' })).status).toBe(200);
    expect(await statuses()).toEqual([404, 404]);
  });

  test('programs of other developers are not found in the portal', async () => {
    const { token } = await makeDeveloper();
    const other = await makeDeveloper();
    const ownerless = (await operate('POST', '/programs', { name: 'Ownerless' })).body;
    for (const id of [other.programId, ownerless.id, newId(), 'nonsense']) {
      expect(codeOf(await portal('POST', `/programs/${id}/test-key`, { token }))).toEqual(NOT_FOUND);
    }
    const answer = await send('GET', '/v1/nothing', { headers: { 'x-api-key': other.testKey } });
    expect(answer.status).toBe(404);
  });
});

describe('programs that an operator creates for a developer', () => {
  test('a developer’s program is registered with the webhook service before the program exists', async () => {
    const { id } = await makeDeveloper();
    let wasThere: boolean | undefined;
    script.putProgram = async ({ programId, version }) => {
      if (version > 0n) return {};
      const rows = await database.query({ text: 'select from programs where id = $1' }, [programId]);
      wasThere = rows.length > 0;
      return {};
    };
    const made = await operate('POST', '/programs', { name: 'Registered', developer_id: id });
    expect(made.status).toBe(201);
    expect(asked).toEqual([['putProgram', { programId: made.body.id, developerId: id, version: 0n }]]);
    expect(wasThere).toBe(false);
    expect(integration.announced(made.body.id)).toMatchObject([{ programId: made.body.id, developerId: id }]);
  });

  test('a developer’s program is not created while the webhook service is down', async () => {
    const { id } = await makeDeveloper();
    expect(codeOf(await operate('POST', '/programs', { name: 'Down', developer_id: id }, 2))).toEqual([
      500,
      'internal_error',
    ]);
    expect(await database.query({ text: `select from programs where name = 'Down'` })).toEqual([]);
    expect((await operate('POST', '/programs', { name: 'Free' }, 2)).status).toBe(201);
  });

  test('a program of an unknown developer is not registered with the webhook service', async () => {
    expect(codeOf(await operate('POST', '/programs', { name: 'x', developer_id: newId() }))).toEqual(NOT_FOUND);
    expect(asked).toEqual([]);
  });
});

describe('integrations in the portal', () => {
  const dryRun = (token: string, body: unknown) => portal('POST', '/integrations/dry-run', { token, body });

  test('a dry run shows what a descriptor would read, with every digit of the sample', async () => {
    const { token } = await makeDeveloper();
    integration.script.dryRun = async () => ({
      records: [
        { index: 0, result: { $case: 'readJson', value: '{"score":7,"evidence":{"seed":18446744073709551615}}' } },
        { index: 1, result: { $case: 'ignored', value: true } },
        {
          index: 2,
          result: { $case: 'failed', value: { pointer: '/run', field: 'map.score', message: 'is missing' } },
        },
      ],
      recordsFailure: undefined,
      nextPageJson: '{"url":"https://game.example.com/?after=2"}',
    });
    const sample = '[ {"seed": 18446744073709551615}, 1, null ]';
    const answer = await send('POST', '/api/portal/integrations/dry-run', {
      token,
      headers: { 'content-type': 'application/json' },
      text: `{"transport":"pull_poll","descriptor":{"map": {"score": "/a"}},"sample":${sample}}`,
    });
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        records: [
          { index: 0, status: 'read', read: { score: 7, evidence: { seed: 2 ** 64 } }, failure: null },
          { index: 1, status: 'ignored', read: null, failure: null },
          {
            index: 2,
            status: 'failed',
            read: null,
            failure: { pointer: '/run', field: 'map.score', message: 'is missing' },
          },
        ],
        records_failure: null,
        next_page: { url: 'https://game.example.com/?after=2' },
      },
    ]);
    expect(answer.text).toContain('"seed":18446744073709551615');
    expect(integration.asked).toEqual([
      ['dryRun', { transport: Transport.PULL_POLL, descriptorJson: '{"map": {"score": "/a"}}', sampleJson: sample }],
    ]);
  });

  test('a dry run shows the pointer at which no records could be read', async () => {
    const { token } = await makeDeveloper();
    const recordsFailure = { pointer: '/events', field: 'map.records', message: 'names nothing' };
    integration.script.dryRun = async () => ({ records: [], recordsFailure, nextPageJson: '' });
    const answer = await dryRun(token, { transport: 'push_webhook', descriptor: {}, sample: {} });
    expect(answer.body).toEqual({ records: [], records_failure: recordsFailure, next_page: null });
  });

  test('a dry run beyond the developer’s bytes per second is 429', async () => {
    const [{ token }, other] = [await makeDeveloper(), await makeDeveloper()];
    integration.script.dryRun = async () => ({ records: [], recordsFailure: undefined, nextPageJson: '' });
    const large = { transport: 'push_webhook', descriptor: {}, sample: 'x'.repeat(250_000) };
    // However long the requests take, no budget is refilled meanwhile.
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
    onTestFinished(() => void vi.useRealTimers());
    const answers = [await dryRun(token, large), await dryRun(token, large), await dryRun(token, large)];
    const last = await dryRun(token, large);
    expect([answers[0]?.status, answers[1]?.status, last.status]).toEqual([200, 200, 429]);
    expect(last.body).toEqual({
      error: 'Too many requests.',
      retry_after: 1,
      limit: 384 * 1024,
      reset_at: expect.any(String),
    });
    const served = answers.filter(({ status }) => status === 200).length;
    expect((await dryRun(other.token, large)).status).toBe(200);
    expect(integration.asked).toHaveLength(served + 1);
  });

  test('a dry run without a transport, a descriptor or a sample is refused', async () => {
    const { token } = await makeDeveloper();
    const whole = { transport: 'push_webhook', descriptor: {}, sample: null };
    for (const wrong of [
      { ...whole, transport: 'carrier_pigeon' },
      { ...whole, descriptor: [] },
      { ...whole, descriptor: undefined },
      { ...whole, sample: undefined },
      { ...whole, other: 1 },
    ]) {
      expect(codeOf(await dryRun(token, wrong)), JSON.stringify(wrong)).toEqual(INVALID);
    }
    expect(integration.asked).toEqual([]);
    integration.script.dryRun = async () => refused('invalid_request', 'map: is not an object');
    const answer = await dryRun(token, whole);
    expect([...codeOf(answer), answer.body.error.message]).toEqual([...INVALID, 'map: is not an object']);
  });

  test('the log of an integration is requested with the developer’s id, page by page', async () => {
    const { id, token } = await makeDeveloper();
    const entryId = newId();
    const attemptId = newId();
    integration.script.listLog = async () => ({
      entries: [
        {
          id: entryId,
          kind: LogKind.PUSH,
          at: AT,
          bodyExcerpt: '{"score":7}',
          error: '',
          records: [
            { index: 0, attemptId, status: RecordStatus.SETTLED, code: '', message: '' },
            { index: 1, attemptId: '', status: RecordStatus.REJECTED, code: 'not_found', message: 'No open attempt.' },
          ],
        },
        { id: entryId, kind: LogKind.POLL, at: AT, bodyExcerpt: '', error: 'timeout', records: [] },
      ],
      nextCursor: 'c2',
    });
    const integrationId = newId();
    const answer = await portal('GET', `/integrations/${integrationId.toUpperCase()}/log?cursor=c1&limit=2`, { token });
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        data: [
          {
            id: entryId,
            kind: 'push',
            at: AT.toISOString(),
            body_excerpt: '{"score":7}',
            error: null,
            records: [
              { index: 0, attempt_id: attemptId, status: 'settled', code: null, message: null },
              { index: 1, attempt_id: null, status: 'rejected', code: 'not_found', message: 'No open attempt.' },
            ],
          },
          { id: entryId, kind: 'poll', at: AT.toISOString(), body_excerpt: '', error: 'timeout', records: [] },
        ],
        next_cursor: 'c2',
      },
    ]);
    await portal('GET', `/integrations/${integrationId}/log`, { token });
    expect(integration.asked).toEqual([
      ['listLog', { developerId: id, integrationId, cursor: 'c1', limit: 2 }],
      ['listLog', { developerId: id, integrationId, cursor: '', limit: 100 }],
    ]);
  });

  test("the log of another developer's integration is not found", async () => {
    const { token } = await makeDeveloper();
    for (const path of [`/integrations/${newId()}/log`, '/integrations/nonsense/log']) {
      expect(codeOf(await portal('GET', path, { token }))).toEqual(NOT_FOUND);
    }
    for (const query of ['limit=101', 'limit=0']) {
      expect(codeOf(await portal('GET', `/integrations/${newId()}/log?${query}`, { token }))).toEqual(INVALID);
    }
  });
});

describe('webhook endpoints', () => {
  const ENDPOINT: Endpoint = {
    id: newId(),
    url: 'https://partner.example/hooks',
    events: ['attempt.settled'],
    programId: undefined,
    environment: Environment.UNSPECIFIED,
    description: '',
    active: true,
    createdAt: AT,
  };
  const SHOWN = {
    id: ENDPOINT.id,
    url: ENDPOINT.url,
    events: ['attempt.settled'],
    program_id: null,
    environment: null,
    description: '',
    active: true,
    created_at: '2026-11-21T12:00:00.000Z',
  };
  const SECRET = `whsec_${'0'.repeat(64)}`;
  const path = `/webhook-endpoints/${ENDPOINT.id}`;

  test('the catalogue has a valid sample of each event', async () => {
    const { token } = await makeDeveloper();
    const { status, body } = await portal('GET', '/webhook-events', { token });
    expect(status).toBe(200);
    expect(body.data.map(({ event }: { event: string }) => event)).toEqual(EVENT_TYPES);
    for (const { event, summary, sample } of body.data) {
      const schema = DOCUMENTED_EVENTS.find(({ type }) => type === event)?.schema;
      expect(schema?.strict().parse(sample)).toEqual(sample);
      expect(summary).not.toBe('');
    }
    expect(asked).toEqual([]);
  });

  test('the secret of a new webhook endpoint is shown once and never logged', async () => {
    const { id, token, programId } = await makeDeveloper();
    script.createEndpoint = async () => ({ endpoint: ENDPOINT, signingSecret: SECRET });
    const made = await portal('POST', '/webhook-endpoints', { token, body: { url: ENDPOINT.url } });
    expect([made.status, made.body]).toEqual([201, { ...SHOWN, signing_secret: SECRET }]);
    expect(made.headers.get('cache-control')).toBe('no-store');
    const optional = { events: [], program_id: null, environment: null, description: null };
    await portal('POST', '/webhook-endpoints', { token, body: { url: ENDPOINT.url, ...optional } });
    const scoped = {
      url: ENDPOINT.url,
      events: [...EVENT_TYPES, ...EVENT_TYPES],
      program_id: programId.toUpperCase(),
      environment: 'test',
      description: '🏆'.repeat(1_000),
    };
    await portal('POST', '/webhook-endpoints', { token, body: scoped });
    const common = { developerId: id, programIds: [programId], url: ENDPOINT.url };
    const forAll = {
      ...common,
      events: [],
      programId: undefined,
      environment: Environment.UNSPECIFIED,
      description: '',
    };
    expect(asked).toEqual([
      ['createEndpoint', forAll],
      ['createEndpoint', forAll],
      [
        'createEndpoint',
        {
          ...common,
          events: [...EVENT_TYPES],
          programId,
          environment: Environment.TEST,
          description: scoped.description,
        },
      ],
    ]);
    expect(actionLines()[0]).toMatchObject({
      actor: 'developer',
      developerId: id,
      action: 'create_webhook_endpoint',
      result: 'done',
      id: ENDPOINT.id,
    });
    expect(lines.join()).not.toContain('whsec_');
  });

  test('a webhook endpoint for another developer’s program is refused without a call', async () => {
    const { token } = await makeDeveloper();
    const other = await makeDeveloper();
    const body = { url: ENDPOINT.url };
    for (const programId of [other.programId, newId()]) {
      const answer = await portal('POST', '/webhook-endpoints', { token, body: { ...body, program_id: programId } });
      expect(codeOf(answer)).toEqual(NOT_FOUND);
    }
    expect(asked).toEqual([]);
  });

  test('each route of webhook endpoints calls the webhook service with the developer’s id', async () => {
    const { id, token } = await makeDeveloper();
    const deliveryId = newId();
    const own = { developerId: id, endpointId: ENDPOINT.id };
    const scoped = { ...ENDPOINT, environment: Environment.LIVE, programId: id };
    script.getEndpoint = async () => ({ endpoint: scoped });
    script.listEndpoints = async () => ({ endpoints: [ENDPOINT, scoped] });
    script.updateEndpoint = async () => ({ endpoint: ENDPOINT });
    script.rotateSecret = async () => ({ endpoint: ENDPOINT, signingSecret: SECRET });
    script.sendTest = async () => ({ deliveryId });
    script.deleteEndpoint = async () => ({});
    const SHOWN_SCOPED = { ...SHOWN, environment: 'live', program_id: id };
    const seen = [
      await portal('GET', path, { token }),
      await portal('GET', '/webhook-endpoints', { token }),
      await portal('PATCH', path, { token, body: { events: [], active: false } }),
      await portal('PATCH', path, { token, body: { events: ['round.settled', 'round.settled'] } }),
      await portal('PATCH', path, { token, body: { url: 'https://x.example', description: '' } }),
      await portal('POST', `${path}/rotate-secret`, { token }),
      await portal('POST', `${path}/test`, { token }),
      await portal('DELETE', path, { token }),
    ];
    expect(seen.map(({ status, body }) => [status, body])).toEqual([
      [200, SHOWN_SCOPED],
      [200, { data: [SHOWN, SHOWN_SCOPED] }],
      [200, SHOWN],
      [200, SHOWN],
      [200, SHOWN],
      [200, { ...SHOWN, signing_secret: SECRET }],
      [202, { delivery_id: deliveryId }],
      [204, undefined],
    ]);
    expect(seen[5]?.headers.get('cache-control')).toBe('no-store');
    const untouched = { url: undefined, events: undefined, description: undefined, active: undefined };
    expect(asked).toEqual([
      ['getEndpoint', own],
      ['listEndpoints', { developerId: id }],
      ['updateEndpoint', { ...own, ...untouched, events: { events: [] }, active: false }],
      ['updateEndpoint', { ...own, ...untouched, events: { events: ['round.settled'] } }],
      ['updateEndpoint', { ...own, ...untouched, url: 'https://x.example', description: '' }],
      ['rotateSecret', own],
      ['sendTest', own],
      ['deleteEndpoint', own],
    ]);
    expect(actionLines().map(({ action, developerId }) => [action, developerId])).toEqual(
      [
        'change_webhook_endpoint',
        'change_webhook_endpoint',
        'change_webhook_endpoint',
        'rotate_webhook_secret',
        'send_test_webhook',
        'delete_webhook_endpoint',
      ].map((action) => [action, id]),
    );
    expect(lines.join()).not.toContain('whsec_');
  });

  test('a refusal of the webhook service is passed on', async () => {
    const { token } = await makeDeveloper();
    const calls = (id: string): [string, string, object?][] => [
      ['GET', `/webhook-endpoints/${id}`],
      ['PATCH', `/webhook-endpoints/${id}`, { active: true }],
      ['DELETE', `/webhook-endpoints/${id}`],
      ['POST', `/webhook-endpoints/${id}/rotate-secret`],
      ['POST', `/webhook-endpoints/${id}/test`],
      ['GET', `/webhook-endpoints/${id}/deliveries`],
      ['GET', `/webhook-endpoints/${id}/stats`],
      ['POST', `/webhook-endpoints/${id}/resend-failed`, { from: '2026-11-20T00:00:00Z', to: '2026-11-21T00:00:00Z' }],
      ['GET', `/deliveries/${id}`],
      ['POST', `/deliveries/${id}/resend`],
    ];
    for (const [method, where, body] of [...calls(newId()), ...calls('nonsense')]) {
      expect(codeOf(await portal(method, where, { token, body })), `${method} ${where}`).toEqual(NOT_FOUND);
    }
    expect(asked).toHaveLength(10);
    script.createEndpoint = async () => refused('conflict', 'There are 20.');
    const full = await portal('POST', '/webhook-endpoints', { token, body: { url: ENDPOINT.url } });
    expect([full.status, full.body]).toEqual([409, { error: { code: 'conflict', message: 'There are 20.' } }]);
  });

  test('a webhook endpoint shows its deliveries with every send, page by page', async () => {
    const { id, token } = await makeDeveloper();
    const pending = {
      id: newId(),
      event: 'attempt.settled',
      status: DeliveryStatus.PENDING,
      createdAt: AT,
      nextAttemptAt: new Date(AT.getTime() + 60_000),
      attempts: [
        {
          number: 1,
          startedAt: AT,
          durationMs: 12.4,
          httpStatus: 500,
          errorKind: 'http_5xx',
          error: 'The endpoint answered 500.',
          responseExcerpt: 'oops',
          dnsMs: 0.4,
          connectMs: 3.6,
          waitMs: 8,
          readMs: undefined,
        },
        {
          number: 2,
          startedAt: AT,
          durationMs: undefined,
          httpStatus: undefined,
          errorKind: undefined,
          error: undefined,
          responseExcerpt: undefined,
        },
      ],
    };
    script.listDeliveries = async () => ({ deliveries: [pending], nextCursor: 'next', headCursor: '' });
    const listed = await portal('GET', `${path}/deliveries?status=pending&event=attempt.settled&limit=1&cursor=c`, {
      token,
    });
    expect([listed.status, listed.body]).toEqual([
      200,
      {
        data: [
          {
            id: pending.id,
            event: 'attempt.settled',
            status: 'pending',
            created_at: '2026-11-21T12:00:00.000Z',
            next_attempt_at: '2026-11-21T12:01:00.000Z',
            attempts: [
              {
                number: 1,
                started_at: '2026-11-21T12:00:00.000Z',
                duration_ms: 12,
                phases: { dns_ms: 0, connect_ms: 4, wait_ms: 8, read_ms: null },
                http_status: 500,
                error_kind: 'http_5xx',
                error: 'The endpoint answered 500.',
                response_excerpt: 'oops',
              },
              {
                number: 2,
                started_at: '2026-11-21T12:00:00.000Z',
                duration_ms: null,
                phases: { dns_ms: null, connect_ms: null, wait_ms: null, read_ms: null },
                http_status: null,
                error_kind: null,
                error: null,
                response_excerpt: null,
              },
            ],
          },
        ],
        next_cursor: 'next',
        head_cursor: null,
      },
    ]);
    script.listDeliveries = async () => ({ deliveries: [], nextCursor: '', headCursor: 'head' });
    const empty = { data: [], next_cursor: null, head_cursor: 'head' };
    expect((await portal('GET', `${path}/deliveries`, { token })).body).toEqual(empty);
    expect((await portal('GET', `${path}/deliveries?after=head`, { token })).body).toEqual(empty);
    expect(codeOf(await portal('GET', `${path}/deliveries?after=head&cursor=c`, { token }))).toEqual(INVALID);
    const own = { developerId: id, endpointId: ENDPOINT.id };
    const all = { ...own, status: DeliveryStatus.UNSPECIFIED, event: '', limit: 200, cursor: '' };
    expect(asked).toEqual([
      [
        'listDeliveries',
        { ...own, status: DeliveryStatus.PENDING, event: 'attempt.settled', limit: 1, cursor: 'c', after: '' },
      ],
      ['listDeliveries', { ...all, after: '' }],
      ['listDeliveries', { ...all, after: 'head' }],
    ]);
  });

  test('the statistics of a webhook endpoint are shown with their success rate', async () => {
    const { id, token } = await makeDeveloper();
    const none = { delivered: 0, failed: 0, pending: 0, buckets: [] };
    script.getEndpointStats = async () => none;
    const zero = { ...none, success_rate: null, p50_ms: null, p95_ms: null, last_failure: null, counted_from: null };
    expect((await portal('GET', `${path}/stats`, { token })).body).toEqual({ hours: 24, ...zero });

    const lastFailure = { at: AT, deliveryId: newId(), httpStatus: 503, errorKind: 'http_5xx' };
    const counts = { delivered: 3, failed: 1, pending: 2 };
    script.getEndpointStats = async () => ({
      ...counts,
      p50Ms: 12.4,
      p95Ms: 99.5,
      lastFailure,
      countedFrom: AT,
      buckets: [{ from: AT, delivered: 3, failed: 1 }],
    });
    expect((await portal('GET', `${path}/stats?hours=720`, { token })).body).toEqual({
      hours: 720,
      ...counts,
      success_rate: 0.75,
      p50_ms: 12,
      p95_ms: 100,
      last_failure: {
        at: AT.toISOString(),
        delivery_id: lastFailure.deliveryId,
        http_status: 503,
        error_kind: 'http_5xx',
      },
      counted_from: AT.toISOString(),
      buckets: [{ from: AT.toISOString(), delivered: 3, failed: 1 }],
    });
    const own = { developerId: id, endpointId: ENDPOINT.id };
    expect(asked).toEqual([
      ['getEndpointStats', { ...own, hours: 24 }],
      ['getEndpointStats', { ...own, hours: 720 }],
    ]);
    for (const hours of ['0', '721', '-1', '1.5', '', 'x', '1e2']) {
      expect(codeOf(await portal('GET', `${path}/stats?hours=${hours}`, { token }))).toEqual(INVALID);
    }
    expect(asked).toHaveLength(2);
  });

  test('the failed deliveries of a period can be sent again', async () => {
    const { id, token } = await makeDeveloper();
    const to = new Date(AT.getTime() + 60_000);
    script.resendFailedDeliveries = async () => ({ resent: 1_000, resumeFrom: AT });
    const body = { from: '2026-11-21T13:00:00+01:00', to: to.toISOString() };
    const first = await portal('POST', `${path}/resend-failed`, { token, body });
    expect([first.status, first.body]).toEqual([202, { resent: 1_000, more: true, resume_from: AT.toISOString() }]);
    script.resendFailedDeliveries = async () => ({ resent: 0 });
    const second = await portal('POST', `${path}/resend-failed`, { token, body });
    expect([second.status, second.body]).toEqual([202, { resent: 0, more: false, resume_from: null }]);
    const call = ['resendFailedDeliveries', { developerId: id, endpointId: ENDPOINT.id, from: AT, to }];
    expect(asked).toEqual([call, call]);
    expect(actionLines()[0]).toMatchObject({
      action: 'resend_failed_webhook_deliveries',
      developerId: id,
      endpointId: ENDPOINT.id,
      resent: 1_000,
    });
    const refusedBodies = [
      {},
      { from: body.from },
      { to: body.to },
      { from: body.to, to: body.from },
      { from: body.from, to: body.from },
      { ...body, from: 'yesterday' },
      { ...body, from: '2026-11-21' },
      { ...body, limit: 5 },
    ];
    for (const bad of refusedBodies) {
      expect(codeOf(await portal('POST', `${path}/resend-failed`, { token, body: bad }))).toEqual(INVALID);
    }
    expect(asked).toHaveLength(2);
  });

  test('a delivery is shown with its body, its program and its environment', async () => {
    const { id, token, programId } = await makeDeveloper();
    const [deliveryId, eventId] = [newId(), newId()];
    const delivery = {
      id: deliveryId,
      event: 'attempt.settled',
      status: DeliveryStatus.FAILED,
      createdAt: AT,
      nextAttemptAt: undefined,
      attempts: [],
    };
    const found = {
      delivery,
      endpointId: ENDPOINT.id,
      eventId,
      tenant: undefined,
      body: '{"a":1}',
      resendOf: undefined,
    };
    const tenant = { programId, environment: Environment.LIVE };
    script.getDelivery = async () => ({ ...found, tenant, resendOf: eventId });
    const shown = {
      id: deliveryId,
      event: 'attempt.settled',
      status: 'failed',
      created_at: AT.toISOString(),
      next_attempt_at: null,
      attempts: [],
      endpoint_id: ENDPOINT.id,
      event_id: eventId,
      body: '{"a":1}',
    };
    const get = async () => (await portal('GET', `/deliveries/${deliveryId.toUpperCase()}`, { token })).body;
    expect(await get()).toEqual({ ...shown, program_id: programId, environment: 'live', resend_of: eventId });
    script.getDelivery = async () => found;
    expect(await get()).toEqual({ ...shown, program_id: null, environment: null, resend_of: null });
    expect(asked[0]).toEqual(['getDelivery', { developerId: id, deliveryId }]);
  });

  test('a delivery of a webhook endpoint is sent again', async () => {
    const { id, token } = await makeDeveloper();
    const [deliveryId, again] = [newId(), newId()];
    script.resendDelivery = async () => ({ deliveryId: again });
    const resent = await portal('POST', `/deliveries/${deliveryId}/resend`, { token });
    expect([resent.status, resent.body]).toEqual([202, { delivery_id: again }]);
    expect(asked).toEqual([['resendDelivery', { developerId: id, deliveryId }]]);
    expect(actionLines()[0]).toMatchObject({ developerId: id, deliveryId, newDeliveryId: again });
  });
});

describe('the sandbox for a signed-in developer', () => {
  const inProgram = (programId: string, path: string) => `/programs/${programId}/sandbox${path}`;

  test('a signed-in developer may use every route of the sandbox', async () => {
    const { token, programId } = await makeDeveloper();
    const paths = PORTAL_ROUTES.map(({ method, path }) => `${method} ${path}`);
    for (const { method, path } of SANDBOX_ROUTES) {
      expect(paths).toContain(`${method} /programs/{programId}/sandbox${path}`);
    }
    const deliveryId = newId();
    const tenant = { programId, environment: Environment.TEST };
    script.retryDelivery = async () => ({});
    const due = await portal('POST', inProgram(programId, `/webhook-deliveries/${deliveryId}/retry-now`), { token });
    expect([due.status, due.body]).toEqual([202, { delivery_id: deliveryId }]);
    expect(asked).toEqual([['retryDelivery', { tenant, deliveryId }]]);
    expect(actionLines().at(-1)).toMatchObject({ action: 'retry_webhook_delivery', programId, deliveryId });
  });

  test('another developer’s sandbox is not found', async () => {
    const { programId } = await makeDeveloper();
    const other = await makeDeveloper();
    const sandbox = PORTAL_ROUTES.filter(({ path }) => path.startsWith('/programs/{programId}/sandbox/'));
    expect(sandbox.length).toBe(SANDBOX_ROUTES.length + 2);
    const refusals = async (id: string) => {
      const codes = [];
      for (const { method, path, body } of sandbox) {
        const sent = path.endsWith('/players')
          ? { player_ref: 'p' }
          : { challenge_id: newId(), player_ref: 'p', score: 5 };
        const filled = path.replace('{programId}', id).replace(/\{\w+\}/g, newId());
        codes.push(
          codeOf(
            await portal(method.toUpperCase(), filled, {
              token: other.token,
              ...(body !== undefined && { body: sent }),
            }),
          ),
        );
      }
      return codes;
    };
    expect(await refusals(programId)).toEqual(sandbox.map(() => NOT_FOUND));
    await operate('PATCH', `/programs/${other.programId}`, { status: 'suspended' });
    asked = [];
    expect(await refusals(other.programId)).toEqual(sandbox.map(() => [409, 'conflict']));
    expect(asked).toEqual([]);
  });

  test('an attempt in the sandbox takes the body of /v1', async () => {
    const { token, programId } = await makeDeveloper();
    const attempts = inProgram(programId, '/attempts');
    for (const body of [
      { player_ref: 'p' },
      { challenge_id: newId() },
      { challenge_id: newId(), tournament_round_id: newId(), player_ref: 'p' },
    ]) {
      expect(codeOf(await portal('POST', attempts, { token, body }))).toEqual(INVALID);
    }
    for (const body of [{}, { score: '5' }, { score: 5, tiebreak: 'x' }]) {
      expect(codeOf(await portal('POST', `${attempts}/${newId()}/outcome`, { token, body }))).toEqual(INVALID);
    }
  });
});

describe('deliveries in the sandbox', () => {
  test('only a test key can request the retry of a sandbox delivery', async () => {
    const { token, programId, testKey } = await makeDeveloper();
    const liveKey = (await operate('POST', `/programs/${programId}/approve`, undefined)).body.live_key;
    const deliveryId = newId();
    const retry = (id: string, headers: Record<string, string>) =>
      send('POST', `/api/sandbox/webhook-deliveries/${id}/retry-now`, { headers });
    script.retryDelivery = async () => ({});
    const answer = await retry(deliveryId.toUpperCase(), { 'x-api-key': testKey });
    expect([answer.status, answer.body]).toEqual([202, { delivery_id: deliveryId }]);
    const tenant = { programId, environment: Environment.TEST };
    expect(asked).toEqual([['retryDelivery', { tenant, deliveryId }]]);
    expect(codeOf(await retry('nonsense', { 'x-api-key': testKey }))).toEqual(NOT_FOUND);
    expect(codeOf(await retry(deliveryId, { 'x-api-key': liveKey }))).toEqual(UNAUTHORIZED);
    expect(codeOf(await retry(deliveryId, { authorization: `Bearer ${token}` }))).toEqual(UNAUTHORIZED);
    script.retryDelivery = async () => refused('conflict', 'No retry is scheduled.');
    expect(codeOf(await retry(deliveryId, { 'x-api-key': testKey }))).toEqual([409, 'conflict']);
  });
});
