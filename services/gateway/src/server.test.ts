import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { metrics } from '@laurel/telemetry';
import { createTestClock, createTestDatabase } from '@laurel/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startScriptedIntegration } from './clients/integration.fixture.ts';
import { expectDescribed } from './described-answer.fixture.ts';
import { mintApiKey } from './domain/api-key.ts';
import { OPERATOR_TOKEN, startTestGateway } from './gateway.fixture.ts';

/**
 * No service listens on this port: calls to other services fail, and everything else must work
 * without them.
 */
const CHALLENGE_ID = '01a1fda2-cf3f-73c9-8ad5-9cf07a8ae5d3';
const ATTEMPT_ID = '01a1fda3-5031-8190-ad21-6bfd27e1bae3';
const ENTRY_ID = '01a1fda3-5031-8290-ad21-6bfd27e1bae3';
const ROUND_ID = CHALLENGE_ID;

const stack = new AsyncDisposableStack();
let port: number;
let adminPort: number;
let key: string;
let programId: string;

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly rawHeaders: readonly string[];
  readonly header: (name: string) => string | undefined;
  readonly text: string;
  readonly json: () => ReturnType<typeof JSON.parse>;
}

interface Sent {
  readonly headers?: Record<string, string>;
  readonly body?: string | Buffer;
}

/** Sends a request, and checks its response against the document of its route. */
async function send(method: string, path: string, sent: Sent = {}): Promise<Answer> {
  const answer = await exchange(method, path, sent);
  if (/^\/(?:v1|api)\//.test(path) && answer.text !== '') expectDescribed(method, path, answer);
  return answer;
}

/**
 * Writes raw bytes to the socket: headers stay in their order, and no client library repairs them.
 */
async function exchange(method: string, path: string, options: Sent = {}): Promise<Answer> {
  const request = httpRequest({ port, method, path, headers: options.headers ?? {} }).end(options.body);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const [status, headers] = [response.statusCode ?? 0, new Headers(response.headers as Record<string, string>)];
  const text = Buffer.concat(await response.toArray()).toString();
  return {
    status,
    headers,
    rawHeaders: response.rawHeaders,
    header: (name) => headers.get(name) ?? undefined,
    text,
    json: () => JSON.parse(text),
  };
}

const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  send('POST', path, {
    headers: {
      'x-api-key': key,
      'content-type': 'application/json',
      'idempotency-key': randomBytes(8).toString('hex'),
      ...headers,
    },
    body: typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body),
  });
const get = (path: string) => send('GET', path, { headers: { 'x-api-key': key } });
const operate = (method: string, path: string, body?: unknown) =>
  send(method, `/api/operator${path}`, {
    headers: { authorization: `Bearer ${OPERATOR_TOKEN}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
const codeOf = (answer: Answer) => [answer.status, answer.json().error.code];

const INVALID = [400, 'invalid_request'];
const NOT_FOUND = [404, 'not_found'];

beforeAll(async () => {
  // The gateway announces the key's program to this service.
  const integration = stack.use(await startScriptedIntegration());
  const { runningUrl } = stack.use(
    await createTestDatabase({ migrations: new URL('../migrations/', import.meta.url) }),
  );
  const gateway = stack.use(
    await startTestGateway(
      {
        GATEWAY_DATABASE_URL: runningUrl,
        INTEGRATION_ADDRESS: integration.address,
        RATE_LIMIT_PER_MINUTE: '100000',
      },
      // The clock stands still: no rate window ends between two requests.
      { clock: createTestClock() },
    ),
  );
  ({ port, adminPort } = gateway);
  const program = await send('POST', '/api/operator/programs', {
    headers: { authorization: `Bearer ${OPERATOR_TOKEN}`, 'content-type': 'application/json' },
    body: '{"name":"Test"}',
  });
  key = program.json().test_key;
  programId = program.json().id;
});
afterAll(() => stack.disposeAsync());

describe('requests without a valid key', () => {
  test('every request without a valid key gets the same response, byte for byte', async () => {
    const body = Buffer.alloc(300 * 1024, ' ');
    const withKey = (text: string) => ({ headers: { 'x-api-key': text } });
    const unknown = { 'x-api-key': mintApiKey('test').key };
    const distribution = { p5: 1, p25: 2, p50: 3, p75: 4, p95: 5 };
    const answers = await Promise.all([
      send('GET', '/v1/challenges?player_ref=x'),
      ...[
        ...['', 'nonsense', 'sk_test_', 'sk_test_abc', `sk_test_${'a'.repeat(43)}`, `sk_test_${'A'.repeat(49)}`],
        ...[`sk_prod_${'a'.repeat(49)}`, `sk_test_${'a'.repeat(4_000)}`, 'sk_test_ÿ', 'sk_test_a, sk_test_b'],
        ...['Bearer sk_test_a', "sk_test_' or '1'='1", key.replace('sk_test_', 'sk_live_'), key.slice(0, -1)],
      ].map((text) => send('GET', '/v1/challenges?player_ref=x', withKey(text))),
      ...(
        [
          ['GET', '/v1/challenges'],
          ['POST', `/v1/challenges/${CHALLENGE_ID}/distribution`],
          ['POST', '/v1/players'],
          ['POST', '/v1/attempts'],
          ['POST', `/v1/attempts/${ATTEMPT_ID}/outcome`],
          ['GET', `/v1/attempts/${ATTEMPT_ID}`],
          ['GET', '/v1/tournaments'],
          ['GET', `/v1/tournaments/rounds/${ROUND_ID}/leaderboard`],
          ['POST', '/v1/integrations'],
          ['GET', '/v1/integrations'],
          ['PATCH', `/v1/integrations/${ROUND_ID}`],
          ['POST', `/v1/integrations/${ROUND_ID}/rotate-secret`],
          ['DELETE', `/v1/integrations/${ROUND_ID}/previous-secret`],
          ['GET', '/v1/nowhere'],
          ['DELETE', '/v1/attempts'],
        ] as const
      ).map(([method, path]) => send(method, path, withKey('sk_test_nonsense'))),
      // A key in the query or in a cookie is not read.
      send('GET', `/v1/challenges?player_ref=x&api_key=${key}&X-API-Key=${key}`),
      send('GET', '/v1/challenges?player_ref=x', {
        headers: { cookie: `X-API-Key=${key}`, authorization: `Bearer ${key}` },
      }),
      // No service listens: calling one would be a 500.
      post(`/v1/challenges/${CHALLENGE_ID}/distribution`, { distribution, sample_size: 500 }, unknown),
      post('/v1/players', { player_ref: 'x', email: 'a@example.com' }, unknown),
      send('GET', '/v1/nothing', { headers: { 'x-api-key': mintApiKey('test').key } }),
      send('POST', '/v1/attempts', { headers: { 'x-api-key': mintApiKey('live').key }, body }),
      send('PUT', '/v1/attempts', { headers: { 'x-api-key': `${key}0` }, body: '{"a":1' }),
      send('GET', '/v1', { headers: { authorization: `Bearer ${key}` } }),
      send('GET', '/v1/attempts/%zz', { headers: { 'x-api-key': 'nonsense' } }),
      post('/v1/attempts', { challenge_id: CHALLENGE_ID, player_ref: 'x' }, { 'x-api-key': mintApiKey('test').key }),
    ]);
    const seen = answers.map(({ status, rawHeaders, text }) => ({
      status,
      text,
      headers: rawHeaders.map((value, index) =>
        ['X-Request-Id', 'Date'].includes(rawHeaders[index - 1] ?? '') ? '' : value,
      ),
    }));
    expect(seen[0]).toMatchObject({ status: 401, text: expect.stringContaining('"unauthorized"') });
    for (const other of seen) expect(other).toEqual(seen[0]);
  });
});

describe('answers of /v1', () => {
  test('every response of /v1 has its own request id and the rate limit headers', async () => {
    const [first, second] = [await get('/v1/nothing'), await get('/v1/nothing')];
    for (const answer of [first, second]) {
      expect(answer.header('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
      expect(answer.header('x-ratelimit-limit')).toBe('100000');
      expect(answer.header('x-powered-by')).toBeUndefined();
      expect(answer.header('etag')).toBeUndefined();
    }
    expect(first.header('x-request-id')).not.toBe(second.header('x-request-id'));
    expect(Number(first.header('x-ratelimit-remaining')) - Number(second.header('x-ratelimit-remaining'))).toBe(1);
  });
});

const remaining = (answer: Answer) => Number(answer.header('x-ratelimit-remaining'));

test('every request, even a refused one, decreases the remaining count by one', async () => {
  const seen = [
    await get('/v1/challenges?player_ref=x'),
    await get('/v1/challenges'),
    await get('/v1/nowhere'),
    await post('/v1/attempts', '{'),
    await get(`/v1/attempts/${ATTEMPT_ID}`),
    await get('/v1/tournaments'),
    await get(`/v1/tournaments/rounds/${ROUND_ID}/leaderboard`),
  ].map(remaining);
  expect(seen).toEqual(seen.map((_, index) => Number(seen[0]) - index));
});

describe('requests with an idempotency key', () => {
  const attempt = { challenge_id: CHALLENGE_ID, player_ref: 'x' };
  /** How many statements of a kind were sent. */
  const sent = async (statement: string) => {
    const text = await metrics.metrics();
    return Number(new RegExp(`_items_count\\{.*statement="${statement}"\\} (\\d+)`).exec(text)?.[1] ?? 0);
  };

  test('an idempotency key is locked in the statement that admits its request', async () => {
    await get('/v1/nothing');
    const before = { both: await sent('admission_with_key_lock'), alone: await sent('lock_key') };
    await post('/v1/attempts', attempt);
    expect(await sent('admission_with_key_lock')).toBe(before.both + 1);
    expect(await sent('lock_key')).toBe(before.alone);
  });

  test('an invalid request counts against the rate limit but does not use its idempotency key', async () => {
    const headers = { 'idempotency-key': 'not-spent' };
    const [first, bad, good] = [
      await get('/v1/nothing'),
      await post('/v1/attempts', { ...attempt, player_ref: '' }, headers),
      await post('/v1/attempts', attempt, headers),
    ];
    expect([codeOf(bad), codeOf(good)]).toEqual([INVALID, [500, 'internal_error']]);
    expect([remaining(first) - remaining(bad), remaining(bad) - remaining(good)]).toEqual([1, 1]);
  });
});

describe('paths', () => {
  test.each([
    ['GET', '/v1'],
    ['GET', '/v1/'],
    ['GET', '/v1/nothing'],
    ['GET', '/v1/attempts'],
    ['PUT', '/v1/attempts'],
    ['DELETE', '/v1/attempts'],
    ['OPTIONS', '/v1/attempts'],
    ['POST', '/v1/attempts/outcome'],
    ['GET', '/v1/attempts/%zz'],
    ['GET', '/v1/attempts/%E0%A4%A'],
    ['GET', '/v1/attempts/..%2fchallenges'],
    ['GET', '/v1/attempts/nonsense'],
    ['GET', `/v1/attempts/${CHALLENGE_ID}`],
    ['GET', `/v1/attempts/${ATTEMPT_ID}/`],
    ['DELETE', `/v1/attempts/${ATTEMPT_ID}`],
    ['GET', `/v1/attempts/${ATTEMPT_ID}/outcome`],
    ['POST', '/v1/challenges'],
    ['GET', '/v1/challenges/'],
    ['GET', '/v1/Challenges'],
    ['GET', `/v1/challenges/${CHALLENGE_ID}`],
    ['GET', `/v1/challenges/${CHALLENGE_ID}/distribution`],
    ['GET', '/v1/players'],
    ['PATCH', '/v1/players'],
    ['POST', '/v1/tournaments'],
    ['GET', '/v1/tournaments/'],
    ['GET', `/v1/tournaments/${ROUND_ID}`],
    ['GET', '/v1/tournaments/rounds'],
    ['GET', `/v1/tournaments/rounds/${ROUND_ID}`],
    ['GET', '/v1/tournaments/rounds/nonsense/leaderboard'],
    ['POST', `/v1/tournaments/rounds/${ROUND_ID}/leaderboard`],
    ['GET', '/nothing'],
  ])('%s %s is not found', async (method, path) => {
    const answer = await send(method, path, { headers: { 'x-api-key': key } });
    expect(codeOf(answer)).toEqual(NOT_FOUND);
  });

  test('unknown paths and unknown methods have different messages', async () => {
    for (const [method, path, message, allow] of [
      ['GET', '/v1/nowhere', 'There is no such path.', undefined],
      ['POST', '/v1/attempts/', 'There is no such path.', undefined],
      ['PUT', '/v1/attempts', 'The path does not take PUT; it takes POST.', 'POST'],
      ['GET', `/v1/attempts/${ATTEMPT_ID}/outcome`, 'The path does not take GET; it takes POST.', 'POST'],
      ['DELETE', `/v1/attempts/${ATTEMPT_ID}`, 'The path does not take DELETE; it takes GET, HEAD.', 'GET, HEAD'],
      ['OPTIONS', '/v1/players', 'The path does not take OPTIONS; it takes POST.', 'POST'],
      // Well-formed, but not the id of an attempt.
      ['GET', `/v1/attempts/${CHALLENGE_ID}`, 'There is no such resource.', undefined],
    ] as const) {
      const answer = await send(method, path, { headers: { 'x-api-key': key } });
      expect([answer.status, answer.json(), answer.header('allow')]).toEqual([
        404,
        { error: { code: 'not_found', message } },
        allow,
      ]);
    }
  });

  test('an outcome for an id that is not an attempt’s is not found', async () => {
    expect(codeOf(await post('/v1/attempts/nonsense/outcome', { score: 1 }))).toEqual(NOT_FOUND);
    expect(codeOf(await post(`/v1/attempts/${CHALLENGE_ID}/outcome`, { score: 1 }))).toEqual(NOT_FOUND);
    expect(codeOf(await post('/v1/attempts/nonsense/outcome', { score: '1' }))).toEqual(INVALID);
  });

  test('the retired route answers every caller with 410', async () => {
    const answer = await send('POST', '/api/attempts/anything/outcome', { body: 'not even JSON' });
    expect(answer.status).toBe(410);
    expect(answer.json()).toEqual({ error: expect.any(String), code: 'client_reporting_removed' });
  });
});

describe('invalid input', () => {
  const attempt = { challenge_id: CHALLENGE_ID, player_ref: 'x' };

  test.each<[string, Record<string, string>]>([
    ['an empty idempotency key', { 'idempotency-key': '' }],
    ['an idempotency key of 256 characters', { 'idempotency-key': 'k'.repeat(256) }],
    ['an idempotency key of 32 KiB', { 'idempotency-key': 'k'.repeat(32 * 1024) }],
  ])('a request with %s is invalid_request', async (_name, headers) => {
    expect(codeOf(await post('/v1/attempts', attempt, headers))).toEqual(INVALID);
  });

  test('a request with far too long headers is invalid_request', async () => {
    // The key is not read, so the response has no rate limit.
    const headers = { 'x-api-key': key, 'idempotency-key': 'k'.repeat(128 * 1024) };
    expect(codeOf(await exchange('POST', '/v1/attempts', { headers, body: '{}' }))).toEqual(INVALID);
  });

  test.each([
    '',
    '?player_ref=',
    `?player_ref=${'x'.repeat(256)}`,
    '?player_ref=%ff',
    '?player_ref=a&player_ref=b',
    '?player_ref=a&status=live',
    '?player_ref=a%00',
  ])('listing challenges with the query "%s" is invalid_request', async (query) => {
    expect(codeOf(await get(`/v1/challenges${query}`))).toEqual(INVALID);
  });

  test.each(['?status=', '?status=active', '?status=all&status=all', '?status=%ff'])(
    'listing tournaments with the query "%s" is invalid_request',
    async (query) => {
      expect(codeOf(await get(`/v1/tournaments${query}`))).toEqual(INVALID);
    },
  );

  test('a validation issue names its field, and never its value', async () => {
    const answer = await post('/v1/attempts', { ...attempt, player_ref: 12_345 });
    expect(answer.json().error.details).toEqual({ issues: [{ field: 'player_ref', message: expect.any(String) }] });
    expect(answer.text).not.toContain('12345');
  });

  test('input at its limits passes validation', async () => {
    const key255 = 'k'.repeat(255);
    const body = {
      ...attempt,
      player_ref: '😀'.repeat(255),
      metadata: { text: 'x'.repeat(16 * 1024 - 11) },
      unknown: 1,
    };
    const answer = await post('/v1/attempts', body, {
      'idempotency-key': key255,
      'content-type': 'application/json; charset=UTF-8',
    });
    expect(codeOf(answer)).toEqual([500, 'internal_error']);
    const link = (email: string) => post('/v1/players', { player_ref: '😀'.repeat(255), email });
    expect(codeOf(await link('😀'.repeat(320)))).toEqual([500, 'internal_error']);
    expect(codeOf(await link('😀'.repeat(321)))).toEqual([400, 'invalid_request']);
  });
});

describe('operators and tournaments', () => {
  const terms = {
    environment: 'test',
    name: 'Cup',
    metric_name: 'score',
    metric_unit: 'points',
    threshold_direction: 'higher_is_better',
    entry_fee: '1.00',
    attempt_cap: 3,
    purse_table: [{ rank: 1, amount: '10.00' }],
    min_entrants: 2,
  };
  const create = (changes: object, id = programId) =>
    operate('POST', `/programs/${id}/tournaments`, { ...terms, ...changes });

  test('an operator cannot create a tournament for an unknown program', async () => {
    for (const id of [CHALLENGE_ID, 'nonsense']) {
      expect(codeOf(await create({}, id))).toEqual(NOT_FOUND);
      expect(codeOf(await create({ name: '' }, id))).toEqual(INVALID);
    }
    expect(codeOf(await create({ tiebreak_metric_name: null, round_length_seconds: null }))).toEqual([
      500,
      'internal_error',
    ]);
  });

  // With the services running, invalid changes are refused as such
  // (routes/operator/tournaments.test.ts).
  test('an operator cannot change a tournament whose state cannot be read for the log', async () => {
    const logged = async () => (await operate('GET', '/actions')).json().data;
    const before = await logged();
    for (const body of [{}, { status: 'open' }, { status: 'paused' }]) {
      expect(codeOf(await operate('PATCH', `/tournaments/${ROUND_ID}`, body))).toEqual([500, 'internal_error']);
    }
    for (const body of [{}, { closes_at: 'soon' }, { closes_at: '2030-01-01T00:00:00Z' }]) {
      expect(codeOf(await operate('POST', `/tournaments/${ROUND_ID}/rounds`, body))).toEqual([500, 'internal_error']);
    }
    expect(await logged()).toEqual(before);
    expect(codeOf(await operate('PATCH', '/tournaments/nonsense', { status: 'paused' }))).toEqual(NOT_FOUND);
    const round = { closes_at: '2030-01-01T00:00:00Z' };
    expect(codeOf(await operate('POST', '/tournaments/nonsense/rounds', round))).toEqual(NOT_FOUND);
  });

  test('advancing a sandbox round needs the id of a round', async () => {
    for (const verb of ['close-entries', 'close', 'open']) {
      expect(codeOf(await post(`/api/sandbox/rounds/nonsense/${verb}`, {}))).toEqual(NOT_FOUND);
    }
  });
});

describe('while the other services are down', () => {
  test('creating an attempt is 500 while the services are down, and frees the idempotency key', async () => {
    const body = { challenge_id: CHALLENGE_ID, player_ref: 'x' };
    const headers = { 'idempotency-key': 'again' };
    for (const _try of [1, 2]) {
      const answer = await post('/v1/attempts', body, headers);
      expect(codeOf(answer)).toEqual([500, 'internal_error']);
      expect(answer.text).not.toMatch(/UNAVAILABLE|127\.0\.0\.1|grpc/i);
    }
    const other = await post('/v1/attempts', { ...body, player_ref: 'y' }, headers);
    expect(codeOf(other)).toEqual([500, 'internal_error']);
  });

  test('reads and links are 500 while the services are down', async () => {
    expect(codeOf(await get('/v1/challenges?player_ref=x'))).toEqual([500, 'internal_error']);
    expect(codeOf(await get(`/v1/attempts/${ATTEMPT_ID}`))).toEqual([500, 'internal_error']);
    expect(codeOf(await get(`/v1/attempts/${ENTRY_ID}`))).toEqual([500, 'internal_error']);
    expect(codeOf(await get('/v1/tournaments?status=all'))).toEqual([500, 'internal_error']);
    expect(codeOf(await get(`/v1/tournaments/rounds/${ROUND_ID}/leaderboard`))).toEqual([500, 'internal_error']);
    expect(codeOf(await post('/v1/players', { player_ref: 'x', email: 'a@example.com' }))).toEqual([
      500,
      'internal_error',
    ]);
  });

  test('entering a round is 500 while the services are down', async () => {
    const entry = { tournament_round_id: ROUND_ID, player_ref: 'x' };
    expect(codeOf(await post('/v1/attempts', entry))).toEqual([500, 'internal_error']);
    const score = { score: -1.5, tiebreak: 0 };
    expect(codeOf(await post(`/v1/attempts/${ENTRY_ID}/outcome`, score))).toEqual([500, 'internal_error']);
  });

  test('the gateway is ready while the services are down', async () => {
    expect((await send('GET', '/healthz')).status).toBe(200);
    const look = async (path: string) => {
      const response = await fetch(`http://127.0.0.1:${adminPort}${path}`);
      return [response.status, await response.text()];
    };
    expect(await look('/readyz')).toEqual([200, 'ready']);
    expect(await look('/readyz/dependencies')).toEqual([503, 'not ready: wallet, challenge, tournament, webhook']);
  });
});

describe('documents', () => {
  test('/openapi.json describes exactly the routes that are served', async () => {
    const document = (await send('GET', '/openapi.json')).json();
    expect(document.openapi).toBe('3.1.0');
    expect(Object.keys(document.paths)).toEqual([
      '/v1/challenges',
      '/v1/challenges/{id}/distribution',
      '/v1/players',
      '/v1/attempts',
      '/v1/attempts/{attempt_id}/outcome',
      '/v1/attempts/{attempt_id}',
      '/v1/tournaments',
      '/v1/tournaments/rounds/{round_id}/leaderboard',
      '/v1/integrations',
      '/v1/integrations/{id}',
      '/v1/integrations/{id}/rotate-secret',
      '/v1/integrations/{id}/previous-secret',
      '/webhooks/integrations/{id}/outcome',
      '/api/attempts/{id}/outcome',
      '/.well-known/laurel-keys.json',
    ]);
  });

  test('the list of signing keys is 500 until every service that signs has answered', async () => {
    const answer = await send('GET', '/.well-known/laurel-keys.json');
    expect(codeOf(answer)).toEqual([500, 'internal_error']);
    expect(answer.header('cache-control')).toBe('no-store');
  });

  test('the metrics count requests by route and status, never by path', async () => {
    const text = await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text();
    expect(text).toMatch(
      /laurel_http_request_duration_seconds_count\{.*route="\/v1\/attempts\/\{attempt_id\}",status="500",environment="test"\} 3/,
    );
    expect(text).not.toContain(ATTEMPT_ID);
  });
});
