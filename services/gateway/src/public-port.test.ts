/**
 * The public port against callers that only use up resources: connections, bodies, headers and
 * addresses, over real sockets.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { createDatabase, type Database } from '@laurel/postgres';
import { metrics } from '@laurel/telemetry';
import { createTestDatabase } from '@laurel/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startScriptedIntegration } from './clients/integration.fixture.ts';
import { mintApiKey } from './domain/api-key.ts';
import { OPERATOR_TOKEN, startTestGateway } from './gateway.fixture.ts';

const MAX_CONNECTIONS = 40;
const MAX_PER_ADDRESS = 16;
const KIB = 1024;
const stack = new AsyncDisposableStack();
const sockets = new Set<Socket>();
let runningUrl: string;
let integrationAddress: string;
let database: Database;
let port: number;
let key: string;

const start = (settings: Record<string, string> = {}) =>
  startTestGateway({
    GATEWAY_DATABASE_URL: runningUrl,
    INTEGRATION_ADDRESS: integrationAddress,
    RATE_LIMIT_PER_MINUTE: '100000',
    MAX_CONNECTIONS: String(MAX_CONNECTIONS),
    MAX_CONNECTIONS_PER_ADDRESS: String(MAX_PER_ADDRESS),
    MAX_BODY_KIB_IN_FLIGHT: '1024',
    ...settings,
  });

beforeAll(async () => {
  integrationAddress = stack.use(await startScriptedIntegration()).address;
  const test = stack.use(await createTestDatabase({ migrations: new URL('../migrations/', import.meta.url) }));
  ({ runningUrl } = test);
  database = stack.use(createDatabase({ url: test.url, maxConnections: 1, applicationName: 'test' }));
  stack.defer(() => {
    for (const socket of sockets) socket.destroy();
  });
  ({ port } = stack.use(await start()));
  key = await makeKey();
});
afterAll(() => stack.disposeAsync());

async function makeKey(at = port): Promise<string> {
  const made = await (await open('127.0.0.1', at)).ask(
    'POST',
    '/api/operator/programs',
    operator,
    '{"name":"Public port"}',
  );
  return JSON.parse(made.body).test_key;
}

const operator = { authorization: `Bearer ${OPERATOR_TOKEN}` };
const bearing = (apiKey: string) => ({ 'x-api-key': apiKey, 'idempotency-key': randomBytes(8).toString('hex') });
const headOf = (method: string, path: string, headers: Record<string, string>, length: number | undefined) =>
  [
    `${method} ${path} HTTP/1.1`,
    'host: laurel',
    'content-type: application/json',
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ...(length === undefined ? [] : [`content-length: ${length}`]),
    '\r\n',
  ].join('\r\n');

interface Answer {
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

/** A connection from one of this machine's own addresses, and the responses that it received. */
async function open(from = '127.0.0.1', at = port) {
  const socket = connect({ port: at, host: '127.0.0.1', localAddress: from, noDelay: true });
  sockets.add(socket);
  let text = '';
  let isClosed = false;
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  void closed.then(() => {
    isClosed = true;
    sockets.delete(socket);
  });
  socket.on('error', () => {});
  await Promise.race([once(socket, 'connect'), closed]);
  let onText = () => {};
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    text += chunk;
    onText();
  });
  const readAnswer = (): Answer | undefined => {
    const end = text.indexOf('\r\n\r\n');
    const head = text.slice(0, end + 2);
    const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
    if (end === -1 || text.length < end + 4 + length) return undefined;
    const body = text.slice(end + 4, end + 4 + length);
    text = text.slice(end + 4 + length);
    return { status: Number(head.slice(9, 12)), head, body };
  };
  const answer = () =>
    new Promise<Answer>((resolve, reject) => {
      onText = () => {
        const read = readAnswer();
        if (read !== undefined) resolve(read);
      };
      onText();
      void closed.then(() => reject(new Error('closed without an answer')));
    });
  return {
    socket,
    closed,
    isClosed: () => isClosed,
    answer,
    async ask(method: string, path: string, headers: Record<string, string>, body = '') {
      socket.write(headOf(method, path, headers, body.length) + body);
      return await answer();
    },
  };
}
type Caller = Awaited<ReturnType<typeof open>>;

const many = (count: number, from: string, at = port) =>
  Promise.all(Array.from({ length: count }, () => open(from, at)));
const gaugeOf = async (metric: string) =>
  Number(/ (\d+)$/m.exec(await metrics.getSingleMetricAsString(metric))?.[1] ?? Number.NaN);
const bodyBytes = () => gaugeOf('laurel_body_bytes_in_flight');
const connections = () => gaugeOf('laurel_connections');
/** Closes the connections, so that none is left for the next test. */
const leave = async (callers: readonly Caller[]) => {
  for (const { socket } of callers) socket.destroy();
  await expect.poll(connections, { timeout: 5_000 }).toBeLessThan(5);
};

describe('request bodies', () => {
  test('no byte of a body without a valid key is held', async () => {
    const callers = await many(10, '127.0.0.2');
    for (const { socket } of callers) {
      socket.write(headOf('POST', '/v1/attempts', bearing(mintApiKey('test').key), 256 * KIB));
      socket.write(Buffer.alloc(255 * KIB, ' '));
    }
    const answers = await Promise.all(callers.map((caller) => caller.answer()));
    expect(answers.map(({ status }) => status)).toEqual(callers.map(() => 401));
    expect(await bodyBytes()).toBe(0);
    await Promise.all(callers.map(({ closed }) => closed));
    await expect.poll(connections).toBeLessThan(5);
  });

  test('no byte of a body to /api without a valid credential is held', async () => {
    const paths = ['/api/portal/programs', '/api/operator/programs', '/api/sandbox/players', '/api/attempts/1/outcome'];
    const callers = await many(paths.length, '127.0.0.2');
    for (const [index, { socket }] of callers.entries()) {
      socket.write(headOf('POST', paths[index] ?? '', {}, 100 * KIB));
      socket.write('{"half":');
    }
    const answers = await Promise.all(callers.map((caller) => caller.answer()));
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 410]);
    expect(await bodyBytes()).toBe(0);
    await leave(callers);
  });

  test('a body that ends soon after its response leaves the connection usable', async () => {
    const caller = await open();
    caller.socket.write(headOf('POST', '/v1/attempts', bearing(mintApiKey('test').key), 10));
    expect((await caller.answer()).status).toBe(401);
    caller.socket.write('0123456789');
    expect((await caller.ask('GET', '/healthz', {})).body).toBe('ok');
    await leave([caller]);
  });

  test('the body of a request with a known API key counts until the caller disconnects', async () => {
    const caller = await open();
    await caller.ask('GET', '/v1/tournaments', { 'x-api-key': key });
    caller.socket.write(headOf('POST', '/v1/attempts', bearing(key), 200 * KIB));
    caller.socket.write('x'.repeat(1_000));
    await expect.poll(bodyBytes).toBe(1_000);
    await leave([caller]);
    await expect.poll(bodyBytes).toBe(0);
  });

  test('a body that arrives byte by byte counts only the arrived bytes', async () => {
    const caller = await open();
    await caller.ask('GET', '/v1/tournaments', { 'x-api-key': key });
    caller.socket.write(headOf('POST', '/v1/attempts', { ...bearing(key), 'transfer-encoding': 'chunked' }, undefined));
    for (let sent = 0; sent < 3_000; sent += 1) caller.socket.write('1\r\n{\r\n');
    await expect.poll(bodyBytes).toBe(4_096);
    caller.socket.write('0\r\n\r\n');
    expect((await caller.answer()).status).toBe(400);
    expect(await bodyBytes()).toBe(0);
    await leave([caller]);
  });

  test('a body beyond the share of its API key is refused, and a body of another key is not', async () => {
    const other = await makeKey();
    const callers = await many(4, '127.0.0.3');
    const [one, two, late, neighbour] = callers as [Caller, Caller, Caller, Caller];
    for (const { ask } of [one, neighbour]) await ask('GET', '/v1/tournaments', { 'x-api-key': key });
    await neighbour.ask('GET', '/v1/tournaments', { 'x-api-key': other });
    // One key's share is a quarter of a MiB.
    for (const { socket } of [one, two]) {
      socket.write(headOf('POST', '/v1/attempts', bearing(key), 130 * KIB));
      socket.write(' '.repeat(120 * KIB));
    }
    await expect.poll(bodyBytes).toBeGreaterThanOrEqual(240 * KIB);
    const body = JSON.stringify({ player_ref: 'p', metadata: { text: 'x'.repeat(16 * KIB - 11) } });
    expect((await late.ask('POST', '/v1/attempts', bearing(key), body)).status).toBe(500);
    expect((await neighbour.ask('POST', '/v1/attempts', bearing(other), body)).status).toBe(400);
    await leave(callers);
    await expect.poll(bodyBytes).toBe(0);
  });

  test('a body above the maximum size is refused immediately', async () => {
    const caller = await open();
    caller.socket.write(headOf('POST', '/v1/attempts', bearing(key), 10_000 * KIB));
    const { status, body } = await caller.answer();
    expect([status, body]).toEqual([400, expect.stringContaining('256 KiB')]);
    await caller.closed;
  });

  test.each(['/api/portal/session', '/api/operator/session'])(
    'the body of a sign-in at %s may have 4 KiB',
    async (path) => {
      const caller = await open();
      const text = JSON.stringify({ email: 'a@example.com', password: 'x', more: 'x'.repeat(4 * KIB) });
      const { status, body } = await caller.ask('POST', path, {}, text);
      expect([status, JSON.parse(body).error.message]).toEqual([400, 'The body is larger than 4 KiB.']);
      await leave([caller]);
    },
  );
});

describe('connection limits', () => {
  test('silent connections are closed in favour of a caller with a request', async () => {
    const partner = await open('127.0.0.1');
    expect((await partner.ask('GET', '/v1/tournaments', { 'x-api-key': key })).status).toBe(500);
    const silent = [
      ...(await many(MAX_PER_ADDRESS, '127.0.0.4')),
      ...(await many(MAX_PER_ADDRESS, '127.0.0.5')),
      ...(await many(MAX_PER_ADDRESS, '127.0.0.6')),
    ];
    for (const { socket } of silent) socket.write('GET /healthz HTTP/1.1\r\nslow: ');
    expect(await connections()).toBeLessThanOrEqual(MAX_CONNECTIONS);
    const other = await open('127.0.0.7');
    expect((await other.ask('GET', '/healthz', {})).status).toBe(200);
    expect((await partner.ask('GET', '/v1/tournaments', { 'x-api-key': key })).status).toBe(500);
    expect(partner.isClosed()).toBe(false);
    await leave([...silent, other, partner]);
  });

  test('the oldest silent connection of an address is closed when the address exceeds its limit', async () => {
    const callers = await many(MAX_PER_ADDRESS, '127.0.0.8');
    for (const caller of callers) expect((await caller.ask('GET', '/healthz', {})).status).toBe(200);
    const [oldest, next] = callers;
    await oldest?.ask('GET', '/healthz', {});
    const late = await open('127.0.0.8');
    expect((await late.ask('GET', '/healthz', {})).status).toBe(200);
    await next?.closed;
    expect(callers.map((caller) => caller.isClosed())).toEqual(callers.map((_, index) => index === 1));
    await leave([...callers, late]);
  });

  test('a further connection is refused while all connections of its address are busy', async () => {
    await using proxied = await start({ MAX_CONNECTIONS_PER_ADDRESS: '2' });
    const known = await makeKey(proxied.port);
    const callers = await many(2, '127.0.0.9', proxied.port);
    for (const caller of callers) {
      await caller.ask('GET', '/v1/tournaments', { 'x-api-key': known });
      caller.socket.write(headOf('POST', '/v1/attempts', bearing(known), 100));
      caller.socket.write('{');
    }
    await expect.poll(bodyBytes).toBe(2);
    const late = await open('127.0.0.9', proxied.port);
    await late.closed;
    expect(callers.map((caller) => caller.isClosed())).toEqual([false, false]);
    for (const { socket } of callers) socket.destroy();
  });

  test('a connection that pipelines requests without waiting for responses is closed', async () => {
    const caller = await open('127.0.0.10');
    caller.socket.write(headOf('GET', '/v1/challenges', {}, undefined).repeat(17));
    await caller.closed;
    await leave([caller]);
  });

  test('a connection that sends no HTTP is answered and closed', async () => {
    const caller = await open();
    caller.socket.write('HELLO\r\n\r\n');
    const { status, head } = await caller.answer();
    expect([status, head]).toEqual([400, expect.stringContaining('X-Content-Type-Options: nosniff')]);
    expect(head).toMatch(/^X-Request-Id: [\da-f-]{36}\r$/m);
    // The gateway has half closed the connection, and the caller keeps it open.
    await caller.closed;
    await expect.poll(connections).toBeLessThan(5);
  });
});

describe('clients behind a proxy', () => {
  test('a client behind a proxy is limited by its requests in flight', async () => {
    await using gateway = await start({ TRUSTED_PROXIES: '127.0.0.11', MAX_CONNECTIONS_PER_ADDRESS: '2' });
    const known = await makeKey(gateway.port);
    const callers = await many(5, '127.0.0.11', gateway.port);
    const [a, b, ofSame, ofOther, forged] = callers as [Caller, Caller, Caller, Caller, Caller];
    const by = (client: string) => ({ 'x-forwarded-for': client });
    for (const caller of [a, b]) {
      await caller.ask('GET', '/v1/tournaments', { 'x-api-key': known, ...by('192.0.2.1') });
      caller.socket.write(headOf('POST', '/v1/attempts', { ...bearing(known), ...by('192.0.2.1') }, 100));
      caller.socket.write('{');
    }
    await expect.poll(bodyBytes).toBe(2);
    expect((await ofSame.ask('GET', '/healthz', by('192.0.2.1'))).status).toBe(500);
    expect((await ofOther.ask('GET', '/healthz', by('192.0.2.2'))).status).toBe(200);
    expect((await forged.ask('GET', '/healthz', by('192.0.2.9, 192.0.2.1'))).status).toBe(500);
    for (const { socket } of [a, b]) socket.destroy();
    await expect.poll(bodyBytes).toBe(0);
    expect((await ofSame.ask('GET', '/healthz', by('192.0.2.1'))).status).toBe(200);
    for (const { socket } of callers) socket.destroy();
  });

  test('sign-ins behind a trusted proxy are counted by client', async () => {
    await using gateway = await start({ TRUSTED_PROXIES: '127.0.0.11', PORTAL_RATE_LIMIT_PER_MINUTE: '2' });
    const statusesOf = async (from: string, clients: readonly string[], path = '/api/portal/session') => {
      const statuses: number[] = [];
      for (const client of clients) {
        const caller = await open(from, gateway.port);
        const answer = await caller.ask('POST', path, { 'x-forwarded-for': client }, 'no JSON');
        statuses.push(answer.status);
        caller.socket.destroy();
      }
      return statuses;
    };
    expect(await statusesOf('127.0.0.11', ['192.0.2.1', '192.0.2.1', '192.0.2.1', '192.0.2.2'])).toEqual([
      400, 400, 429, 400,
    ]);
    expect(await statusesOf('127.0.0.12', ['192.0.2.1', '192.0.2.2', '192.0.2.3'])).toEqual([400, 400, 429]);
    // Sign-ins of operators count together with those of developers.
    const atOperators = '/api/operator/session';
    expect(await statusesOf('127.0.0.12', ['192.0.2.4'], atOperators)).toEqual([429]);
    expect(await statusesOf('127.0.0.13', ['192.0.2.4', '192.0.2.4', '192.0.2.4'], atOperators)).toEqual([
      400, 400, 429,
    ]);
  });
});

describe('rate limits of /api', () => {
  const LIMIT = 3;
  const settings = {
    SANDBOX_RATE_LIMIT_PER_MINUTE: String(LIMIT),
    OPERATOR_RATE_LIMIT_PER_MINUTE: String(LIMIT),
    API_FAILURES_PER_MINUTE: String(LIMIT),
  };
  const PATHS = { sandbox: '/api/sandbox/nothing', operator: '/api/operator/nothing' };

  test.each(['sandbox', 'operator'] as const)(
    'the rate of the %s is exact over replicas, and a 429 has the shape of /v1',
    async (area) => {
      await using gateways = new AsyncDisposableStack();
      const replicas = [gateways.use(await start(settings)), gateways.use(await start(settings))];
      const headers: Record<string, string> = area === 'sandbox' ? { 'x-api-key': await makeKey() } : operator;
      await freshMinute();
      // Requests that other tests made as the operator count too.
      await database.query({ text: 'truncate request_windows' });
      const answers = await Promise.all(
        Array.from({ length: 4 * LIMIT }, async (_, index) => {
          const caller = await open('127.0.0.13', replicas[index % 2]?.port);
          return await caller.ask('POST', PATHS[area], headers, '{}').finally(() => caller.socket.destroy());
        }),
      );
      const ofStatus = (status: number) => answers.filter((answer) => answer.status === status);
      expect([ofStatus(404).length, ofStatus(429).length]).toEqual([LIMIT, 3 * LIMIT]);
      const [refused] = ofStatus(429);
      expect(JSON.parse(refused?.body ?? '')).toEqual({
        error: expect.any(String),
        retry_after: expect.any(Number),
        limit: LIMIT,
        reset_at: expect.stringMatching(/:00\.000Z$/),
      });
      expect(refused?.head).toMatch(/X-RateLimit-Limit: 3\r\nX-RateLimit-Remaining: 0\r\n/);
      expect(refused?.head).toMatch(/Retry-After: \d+\r\n/);
    },
  );

  test('calls without a valid credential are limited by address', async () => {
    await using gateway = await start({ API_FAILURES_PER_MINUTE: String(LIMIT) });
    const statusOf = async (headers: Record<string, string>, from: string) => {
      const caller = await open(from, gateway.port);
      const { status } = await caller.ask('GET', '/api/operator/nothing', headers);
      caller.socket.destroy();
      return status;
    };
    await freshMinute();
    expect(await statusOf(operator, '127.0.0.14')).toBe(404);
    const wrong: number[] = [];
    for (let nth = 0; nth < LIMIT + 2; nth += 1) {
      wrong.push(await statusOf({ authorization: `Bearer wrong-${nth}` }, '127.0.0.14'));
    }
    expect(wrong).toEqual([401, 401, 401, 429, 429]);
    expect(await statusOf(operator, '127.0.0.14')).toBe(404);
    expect(await statusOf({ authorization: 'Bearer wrong' }, '127.0.0.15')).toBe(401);
  });

  /**
   * Waits for the next minute of the clock if the current one is about to end, because each minute
   * is a rate window.
   */
  async function freshMinute(): Promise<void> {
    const left = 60_000 - (Date.now() % 60_000);
    if (left < 5_000) await expect.poll(() => Date.now() % 60_000, { timeout: 10_000 }).toBeLessThan(5_000);
  }
});

describe('security headers and bounded answers', () => {
  test.each([
    ['GET', '/healthz'],
    ['GET', '/openapi.json'],
    ['GET', '/api/openapi.json'],
    ['GET', '/nothing'],
    ['GET', '/v1/tournaments'],
    ['POST', '/v1/attempts'],
    ['GET', '/api/operator/nothing'],
    ['POST', '/api/operator/session'],
    ['DELETE', '/api/portal/session'],
    ['POST', '/api/attempts/1/outcome'],
  ])('the response to %s %s forbids browsers to sniff its type or to frame it', async (method, path) => {
    const caller = await open();
    const { head } = await caller.ask(method, path, {});
    expect(head).toMatch(/^X-Content-Type-Options: nosniff\r$/m);
    expect(head).toMatch(/^Referrer-Policy: no-referrer\r$/m);
    const policy = /^Content-Security-Policy: (.*)\r$/m.exec(head)?.[1] ?? '';
    expect(policy).toContain("default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
    expect(policy).not.toContain('unsafe');
    await leave([caller]);
  });

  test('a validation response lists at most ten issues', async () => {
    const caller = await open();
    const purse = Array.from({ length: 100 }, () => ({ rank: 0, amount: 'x' }));
    const terms = JSON.stringify({
      purse_table: purse,
      ...Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`${i}`.repeat(9), 1])),
    });
    const { status, body } = await caller.ask(
      'POST',
      `/api/operator/programs/${crypto.randomUUID()}/tournaments`,
      operator,
      terms,
    );
    expect(status).toBe(400);
    expect(JSON.parse(body).error.message.split('; ')).toHaveLength(10);
    expect(body.length).toBeLessThan(4_000);
    const sign = JSON.stringify(Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`m${i}`, 1])));
    const answer = await caller.ask('POST', '/api/portal/session', {}, sign);
    expect(answer.status).toBe(400);
    expect(answer.body.length).toBeLessThan(1_000);
    await leave([caller]);
  });
});
