/**
 * Operators who sign in with a token, at three gateways on one database. Two gateways have the same
 * tokens. The third has a new token for one operator, and the other's former token under a new
 * name.
 */
import { createDatabase, type Database } from '@laurel/postgres';
import { createLogger } from '@laurel/service';
import { createTestClock, createTestDatabase } from '@laurel/testing';
import { newId } from '@laurel/values/ids';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startScriptedIntegration } from '../../clients/integration.fixture.ts';
import { fetchDescribed } from '../../described-answer.fixture.ts';
import { startTestGateway } from '../../gateway.fixture.ts';
import { OPERATOR_ROUTES } from './index.ts';
import { OPERATOR_SESSION_ROUTES } from './session.ts';

const [ALICE, BOB, NEW_ALICE] = ['alice', 'bob', 'new-alice'].map((name) => `${name}-${'t'.repeat(32)}`) as [
  string,
  string,
  string,
];
const BEFORE = `alice:${ALICE},bob:${BOB}`;
const HOUR_MS = 3_600_000;
const QUARTER_HOUR_MS = 900_000;
const OWN_PAGE = { 'sec-fetch-site': 'same-origin' };
const CREATED = [201, undefined];
const UNAUTHORIZED = [401, 'unauthorized'];
const FORBIDDEN = [403, 'forbidden'];

const stack = new AsyncDisposableStack();
const clock = createTestClock();
let database: Database;
let lines: string[] = [];
/** The last gateway has a new token for alice, and has bob's former token as carol's. */
let ports: number[];
let start: (tokens: string) => Promise<number>;

beforeAll(async () => {
  const { url, runningUrl } = stack.use(
    await createTestDatabase({ migrations: new URL('../../../migrations/', import.meta.url) }),
  );
  database = stack.use(createDatabase({ url, maxConnections: 2, applicationName: 'operator-session-test' }));
  const integration = stack.use(await startScriptedIntegration());
  const destination = { write: (line: string) => void lines.push(line) };
  const logger = createLogger({ service: 'gateway', level: 'info', destination });
  start = async (tokens) =>
    stack.use(
      await startTestGateway(
        {
          GATEWAY_DATABASE_URL: runningUrl,
          INTEGRATION_ADDRESS: integration.address,
          OPERATOR_TOKENS: tokens,
          PORTAL_RATE_LIMIT_PER_MINUTE: '100000',
          API_FAILURES_PER_MINUTE: '100000',
        },
        { logger, clock },
      ),
    ).port;
  ports = [await start(BEFORE), await start(BEFORE), await start(`alice:${NEW_ALICE},carol:${BOB}`)];
}, 60_000);
afterAll(() => stack.disposeAsync());
beforeEach(() => {
  lines = [];
  // After this time, no client has to wait because of wrong tokens in an earlier test.
  clock.advance(QUARTER_HOUR_MS);
});

interface Sent {
  readonly replica?: number;
  readonly token?: string;
  readonly cookie?: string;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

function operate(method: string, path: string, { replica = 0, token, cookie, body, headers }: Sent = {}) {
  return fetchDescribed(ports[replica] ?? 0, `/api/operator${path}`, {
    method,
    headers: {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(cookie !== undefined && { cookie }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
}
type Answer = Awaited<ReturnType<typeof operate>>;

const codeOf = ({ status, code }: Answer) => [status, code];
const signIn = (token: string, options: Sent = {}) => operate('POST', '/session', { ...options, body: { token } });
const cookieOf = ({ headers }: Answer) => headers.get('set-cookie')?.split(';')[0] ?? '';
const enter = async (token: string, options: Sent = {}) => cookieOf(await signIn(token, options));
const nameOf = async (sent: Sent) => (await operate('GET', '/me', sent)).body.name;
const createProgram = (sent: Sent) => operate('POST', '/programs', { body: { name: 'Arcade' }, ...sent });
const actions = async () => (await operate('GET', '/actions?limit=10', { token: ALICE })).body.data;

describe('signing in as an operator', () => {
  test('a sign-in sets a cookie that every replica accepts and no script can read', async () => {
    const answer = await signIn(ALICE);
    const end = new Date(clock().getTime() + 12 * HOUR_MS).toISOString();
    expect([answer.status, answer.body]).toEqual([201, { name: 'alice', session_expires_at: end }]);
    const [cookie = '', ...attributes] = (answer.headers.get('set-cookie') ?? '').split('; ');
    expect(cookie).toMatch(/^laurel_operator=[\w-]{43}$/);
    expect(attributes.sort()).toEqual(['HttpOnly', 'Max-Age=43200', 'Path=/api/operator', 'SameSite=Strict', 'Secure']);
    for (const replica of [0, 1]) {
      const me = await operate('GET', '/me', { replica, cookie: `a=b; ${cookie}` });
      expect([me.status, me.body]).toEqual([200, { name: 'alice', session_expires_at: end }]);
    }
    expect((await operate('GET', '/me', { token: BOB })).body).toEqual({ name: 'bob', session_expires_at: null });
  });

  test('every sign-in creates a new session, whatever session cookie the request has', async () => {
    const planted = `laurel_operator=${'x'.repeat(43)}`;
    const first = await enter(ALICE, { cookie: planted });
    const second = await enter(BOB, { cookie: first });
    expect(new Set([planted, first, second]).size).toBe(3);
    expect(codeOf(await operate('GET', '/me', { cookie: planted }))).toEqual(UNAUTHORIZED);
    expect([await nameOf({ cookie: first }), await nameOf({ cookie: second })]).toEqual(['alice', 'bob']);
  });

  test('a page of another origin cannot sign an operator in', async () => {
    for (const headers of [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { origin: 'https://evil.example' },
      { origin: 'null' },
    ]) {
      const answer = await signIn(ALICE, { headers });
      expect([codeOf(answer), answer.headers.get('set-cookie')]).toEqual([FORBIDDEN, null]);
    }
    for (const headers of [OWN_PAGE, { origin: `http://127.0.0.1:${ports[0]}` }, {}]) {
      expect(codeOf(await signIn(ALICE, { headers }))).toEqual(CREATED);
    }
  });

  test('a sign-in takes exactly one token', async () => {
    for (const body of [
      {},
      { token: 5 },
      { token: null },
      { token: 'x'.repeat(1_001) },
      { token: ALICE, name: 'bob' },
    ]) {
      expect(codeOf(await operate('POST', '/session', { body }))).toEqual([400, 'invalid_request']);
    }
    expect(codeOf(await operate('POST', '/session', { token: ALICE }))).toEqual([400, 'invalid_request']);
    for (const path of ['/Session', '/session/', '/sessio%6e']) {
      const answer = await operate('POST', path, { token: ALICE, body: { token: BOB } });
      expect([codeOf(answer), answer.headers.get('set-cookie')]).toEqual([[404, 'not_found'], null]);
    }
  });

  test('sign-ins and sign-outs are in the log of actions without their tokens', async () => {
    const cookie = await enter(BOB);
    expect((await operate('DELETE', '/session', { cookie, headers: OWN_PAGE })).status).toBe(204);
    await signIn('w'.repeat(40));
    const [out, entered] = await actions();
    expect(entered).toMatchObject({ actor: 'bob', action: 'sign_in', subject: null, outcome: 'done', status: 201 });
    expect(entered.request).toEqual({ path: {}, body: {} });
    expect(entered.after).toMatchObject({ name: 'bob' });
    expect(out).toMatchObject({ actor: 'bob', action: 'sign_out', subject: null, outcome: 'done', status: 204 });
    const open = await enter(BOB);
    const rows = await database.query<{ row: string }>({
      text: `select s::text as row from operator_sessions s union all select a::text from operator_actions a
        union all select r::text from operator_action_results r`,
    });
    const written = [...rows.map(({ row }) => row), ...lines].join('\n');
    expect(written).toContain('"operator":"bob","action":"sign_in"');
    for (const secret of [cookie, open].map((each) => each.replace('laurel_operator=', ''))) {
      expect(written).not.toContain(secret);
      expect(written).not.toContain(Buffer.from(secret, 'base64url').toString('hex'));
    }
    for (const secret of [BOB, 'w'.repeat(40)]) expect(written).not.toContain(secret);
  });
});

describe('changes by an operator’s cookie', () => {
  test('a change is logged with the operator’s name, for a cookie and for a token', async () => {
    const cookie = await enter(BOB);
    const byCookie = await createProgram({ cookie, headers: OWN_PAGE });
    const byToken = await createProgram({ token: BOB });
    expect((await actions()).slice(0, 2)).toMatchObject([
      { actor: 'bob', action: 'create_program', subject: `program:${byToken.body.id}` },
      { actor: 'bob', action: 'create_program', subject: `program:${byCookie.body.id}` },
    ]);
  });

  test('a change that a cookie authenticates is refused unless a page of this origin sent it', async () => {
    const cookie = await enter(ALICE);
    const before = await actions();
    const changes = [...OPERATOR_ROUTES, ...OPERATOR_SESSION_ROUTES].filter(
      ({ method, name }) => method !== 'get' && name !== 'signInOperator',
    );
    for (const { method, path } of changes) {
      for (const headers of [{}, { 'sec-fetch-site': 'cross-site' }, { 'sec-fetch-site': 'same-site' }]) {
        const answer = await operate(method.toUpperCase(), path.replace(/\{\w+\}/g, newId()), { cookie, headers });
        expect([path, ...codeOf(answer)]).toEqual([path, ...FORBIDDEN]);
      }
    }
    for (const origin of ['null', '', 'https://evil.example', `http://127.0.0.1:${ports[1]}`]) {
      expect(codeOf(await createProgram({ cookie, headers: { origin } }))).toEqual(FORBIDDEN);
    }
    expect(await actions()).toEqual(before);
    expect(codeOf(await createProgram({ cookie, headers: OWN_PAGE }))).toEqual(CREATED);
    // A program that sends the token needs no headers of a browser.
    expect(codeOf(await createProgram({ token: ALICE, headers: { 'sec-fetch-site': 'cross-site' } }))).toEqual(CREATED);
  });

  test('no response allows a page of another origin to read it', async () => {
    const cookie = await enter(ALICE);
    const asking = { origin: 'https://evil.example', 'access-control-request-method': 'POST' };
    for (const answer of [
      await fetch(`http://127.0.0.1:${ports[0]}/api/operator/session`, { method: 'OPTIONS', headers: asking }),
      await operate('GET', '/me', { cookie, headers: asking }),
    ]) {
      expect([...answer.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
    }
  });
});

describe('what is not an operator’s session', () => {
  test('a developer’s session opens no operator route, and an operator’s session no portal route', async () => {
    const developer = { email: 'dev@example.com', password: 'correct horse battery' };
    expect((await operate('POST', '/developers', { token: ALICE, body: developer })).status).toBe(201);
    const portal = (method: string, path: string, headers: Record<string, string>, body?: object) =>
      fetchDescribed(ports[0] ?? 0, `/api/portal${path}`, {
        method,
        headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
        ...(body && { body: JSON.stringify(body) }),
      });
    const { token: theirs } = (await portal('POST', '/session', {}, developer)).body;
    const ours = (await enter(ALICE)).replace('laurel_operator=', '');
    expect((await portal('GET', '/me', { cookie: `laurel_session=${theirs}` })).status).toBe(200);
    for (const cookie of [`laurel_operator=${theirs}`, `laurel_session=${theirs}`, `laurel_session=${ours}`]) {
      expect(codeOf(await operate('GET', '/me', { cookie }))).toEqual(UNAUTHORIZED);
    }
    for (const cookie of [`laurel_session=${ours}`, `laurel_operator=${ours}`, `laurel_operator=${theirs}`]) {
      expect(codeOf(await portal('GET', '/me', { cookie }))).toEqual(UNAUTHORIZED);
    }
    for (const token of [theirs, ours]) expect(codeOf(await operate('GET', '/me', { token }))).toEqual(UNAUTHORIZED);
    for (const token of [ours, ALICE]) {
      expect(codeOf(await portal('GET', '/me', { authorization: `Bearer ${token}` }))).toEqual(UNAUTHORIZED);
    }
  });

  test('a token in the cookie, a malformed cookie and two cookies of that name open no session', async () => {
    const [alice, bob] = [await enter(ALICE), await enter(BOB)];
    const sent = ['laurel_operator=', `laurel_operator=${ALICE}`, 'laurel_operator', alice.toUpperCase(), `${alice}x`];
    // The second cookie may come from another host of the site, which sets it for another path.
    const twice = [`${alice}; ${bob}`, `${bob}; ${alice}`, `${alice}; ${alice}`, `${alice};laurel_operator=`];
    for (const cookie of [...sent, ...twice]) {
      expect([cookie, ...codeOf(await operate('GET', '/me', { cookie }))]).toEqual([cookie, ...UNAUTHORIZED]);
    }
  });

  test('a request with a token is decided by the token alone', async () => {
    const cookie = await enter(ALICE);
    expect(await nameOf({ cookie, token: BOB })).toBe('bob');
    expect(codeOf(await operate('GET', '/me', { cookie, token: 'wrong' }))).toEqual(UNAUTHORIZED);
    expect(codeOf(await operate('DELETE', '/session', { cookie, token: ALICE }))).toEqual([409, 'conflict']);
    expect(await nameOf({ cookie })).toBe('alice');
  });
});

describe('the end of an operator’s session', () => {
  test('a stolen session cookie gives no token and ends with the operator’s sign-out', async () => {
    const cookie = await enter(ALICE);
    const stolen = cookie.replace('laurel_operator=', '');
    const end = (await operate('GET', '/me', { cookie })).body.session_expires_at;
    for (const token of [stolen, 'nonsense']) {
      const answer = await signIn(token, { cookie, headers: OWN_PAGE });
      expect([codeOf(answer), answer.headers.get('set-cookie')]).toEqual([UNAUTHORIZED, null]);
    }
    clock.advance(HOUR_MS);
    const created = await createProgram({ cookie, headers: OWN_PAGE });
    expect([created.status, created.headers.get('set-cookie')]).toEqual([201, null]);
    const me = await operate('GET', '/me', { cookie, replica: 1 });
    expect(me.body).toEqual({ name: 'alice', session_expires_at: end });
    expect(me.text).not.toContain(stolen);
    expect((await operate('DELETE', '/session', { cookie, headers: OWN_PAGE })).status).toBe(204);
    for (const replica of [0, 1]) {
      expect(codeOf(await createProgram({ replica, cookie, headers: OWN_PAGE }))).toEqual(UNAUTHORIZED);
    }
  });

  test('a sign-out ends only its own session, on every replica', async () => {
    const [cookie, other] = [await enter(ALICE), await enter(ALICE)];
    const out = await operate('DELETE', '/session', { cookie, replica: 1, headers: OWN_PAGE });
    expect([out.status, out.text]).toEqual([204, '']);
    expect(out.headers.get('set-cookie')).toMatch(/^laurel_operator=; Max-Age=0; Path=\/api\/operator; HttpOnly/);
    for (const replica of [0, 1]) {
      expect(codeOf(await operate('GET', '/me', { cookie, replica }))).toEqual(UNAUTHORIZED);
      expect(await nameOf({ cookie: other, replica })).toBe('alice');
    }
  });

  test('a session ends after 12 hours', async () => {
    const cookie = await enter(ALICE);
    clock.advance(12 * HOUR_MS - 1);
    expect(await nameOf({ cookie })).toBe('alice');
    clock.advance(1);
    expect(codeOf(await operate('GET', '/me', { cookie }))).toEqual(UNAUTHORIZED);
  });

  test('a replica accepts no session whose operator token is not in its configuration', async () => {
    const [old, bob] = [await enter(ALICE), await enter(BOB)];
    for (const cookie of [old, bob]) {
      expect(codeOf(await operate('GET', '/me', { cookie, replica: 2 }))).toEqual(UNAUTHORIZED);
      expect(codeOf(await createProgram({ cookie, replica: 2, headers: OWN_PAGE }))).toEqual(UNAUTHORIZED);
    }
    const renewed = await enter(NEW_ALICE, { replica: 2 });
    expect(await nameOf({ cookie: renewed, replica: 2 })).toBe('alice');
    expect(await nameOf({ cookie: await enter(BOB, { replica: 2 }), replica: 2 })).toBe('carol');
    // This replica does not have the new token yet.
    expect(codeOf(await operate('GET', '/me', { cookie: renewed }))).toEqual(UNAUTHORIZED);
  });

  test('a 21st session of an operator ends the operator’s oldest session', async () => {
    const bob = await enter(BOB);
    await database.query({ text: `delete from operator_sessions where operator = 'alice'` });
    const cookies: string[] = [];
    for (let nth = 0; nth < 3; nth += 1) {
      cookies.push(await enter(ALICE));
      clock.advance(1);
    }
    await Promise.all(Array.from({ length: 18 }, (_, index) => signIn(ALICE, { replica: index % 2 })));
    const statuses = await Promise.all(cookies.map(async (cookie) => (await operate('GET', '/me', { cookie })).status));
    expect(statuses).toEqual([401, 200, 200]);
    const [row] = await database.query<{ count: number }>({
      text: `select count(*)::integer as count from operator_sessions where operator = 'alice'`,
    });
    expect(row?.count).toBe(20);
    expect(await nameOf({ cookie: bob })).toBe('bob');
  });
});

describe('guesses of operators’ tokens at sign-in', () => {
  const wrong = (nth: number) => `wrong-${nth}-${'x'.repeat(32)}`;

  test('wrong tokens in the header and at sign-in are counted together', async () => {
    // The new process knows no client yet, so it makes even a right token wait.
    const replica = ports.push(await start(BEFORE)) - 1;
    const cookie = await enter(ALICE);
    const sendToken = (token: string, at: 'sign-in' | 'header') =>
      at === 'sign-in' ? signIn(token, { replica, cookie }) : operate('GET', '/me', { replica, cookie, token });
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, nth) => sendToken(wrong(nth), nth % 2 === 0 ? 'sign-in' : 'header')),
    );
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(10);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(50);
    for (let round = 0; round < 2; round += 1) {
      for (const at of ['sign-in', 'header'] as const) {
        const answer = await sendToken(ALICE, at);
        expect([answer.status, answer.body]).toMatchObject([429, { limit: 10, retry_after: 1 }]);
      }
      // An operator with a session can continue, but this does not make the client known.
      expect(await nameOf({ replica, cookie })).toBe('alice');
    }
    clock.advance(1_000);
    expect((await sendToken(ALICE, 'sign-in')).status).toBe(201);
    // Now the client is known: only wrong tokens wait.
    await Promise.all(Array.from({ length: 60 }, (_, nth) => sendToken(wrong(nth), 'sign-in')));
    expect((await sendToken(wrong(0), 'header')).status).toBe(429);
    expect((await sendToken(ALICE, 'sign-in')).status).toBe(201);
  });
});
