import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { LaurelError, type LaurelErrorCode } from './errors.ts';
import type { FetchRequest } from './fetch.ts';
import { Laurel } from './laurel.ts';
import { toNodeListener } from './node-listener.ts';
import { createPlayerHandler, type PlayerApi, type PlayerHandlerOptions } from './player-handler.ts';
import type { Round } from './player-shapes.ts';
import type { OwnedAttempt } from './player-view.ts';

const ID = '01890a5d-ac96-774b-bcce-b302099a8057';
const ARM = 'a'.repeat(32);
const SITE = 'https://game.example.com';

const ATTEMPT: OwnedAttempt & { metadata: object } = {
  id: ID,
  challenge_id: ID,
  tournament_round_id: null,
  player_ref: 'ann',
  status: 'open',
  fee_charged: '1.00',
  created_at: '2026-01-31T12:00:00.000Z',
  metadata: { seat: 4 },
  outcome: null,
};

const ROUND: Round & { pool_amount: string } = {
  id: ID,
  tournament_id: ID,
  tournament_name: 'Cup',
  status: 'settled',
  opens_at: '2026-01-31T12:00:00.000Z',
  closes_at: '2026-01-31T13:00:00.000Z',
  entries_close_at: '2026-01-31T12:50:00.000Z',
  settled_at: '2026-01-31T13:00:01.000Z',
  entry_fee: '1.00',
  purse_amount: '5.00',
  purse_table: [{ rank: 1, amount: '5.00' }],
  pool_amount: '0.00',
  entrant_count: 2,
  attempt_cap: 5,
  min_entrants: 1,
};

const laurelError = (code: LaurelErrorCode, status?: number, retryAfterMs?: number) =>
  new LaurelError(code, `POST /v1/attempts: ${code}`, { status, retryAfterMs, apiMessage: `Laurel says ${code}` });

function setUp(options: Partial<PlayerHandlerOptions> = {}) {
  const api = {
    challenges: { list: vi.fn<PlayerApi['challenges']['list']>(async () => ({ data: [] })) },
    rounds: { leaderboard: vi.fn<PlayerApi['rounds']['leaderboard']>() },
    attempts: {
      create: vi.fn<PlayerApi['attempts']['create']>(async () => ATTEMPT),
      retrieve: vi.fn<PlayerApi['attempts']['retrieve']>(async () => ATTEMPT),
    },
  };
  const onError = vi.fn();
  const authenticate = (request: Request) => request.headers.get('x-player');
  const handler = createPlayerHandler({ laurel: api, authenticate, onError, ...options });
  const ask = async (method: string, path: string, { body, headers }: { body?: unknown; headers?: object } = {}) => {
    const response = await handler(
      new Request(`${SITE}/laurel/${path}`, {
        method,
        headers: {
          'x-player': 'ann',
          'sec-fetch-site': 'same-origin',
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      }),
    );
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, body: JSON.parse(text) };
  };
  return { api, ask, handler, onError };
}

const refused = (code: string) => ({ error: { code, message: expect.any(String) } });

test('an attempt is created for the signed-in player, whatever player the body names', async () => {
  const { api, ask } = setUp();
  const body = { arm_id: ARM, challenge_id: ID, player_ref: 'bob', score: 9, attempt_id: ID, metadata: { a: 1 } };
  expect(await ask('POST', 'attempts', { body })).toMatchObject({ status: 201, body: { id: ID, status: 'open' } });
  expect(api.attempts.create.mock.calls).toEqual([
    [{ player_ref: 'ann', challenge_id: ID }, { idempotencyKey: expect.stringMatching(/^arm-[\da-f]{64}$/) }],
  ]);
});

test('each pair of player and arm has its own idempotency key', async () => {
  const { api, ask } = setUp();
  const players = ['ann', 'bob', 'x'.repeat(255), `${'x'.repeat(254)}y`, 'a","b', 'a'];
  for (const player of players) {
    for (const arm_id of [ARM, ARM, `${ARM}b`]) {
      await ask('POST', 'attempts', { body: { arm_id, tournament_round_id: ID }, headers: { 'x-player': player } });
    }
  }
  const keys = api.attempts.create.mock.calls.map(([, { idempotencyKey }]) => idempotencyKey);
  expect(keys.filter((_, index) => index % 3 === 0)).toEqual(keys.filter((_, index) => index % 3 === 1));
  expect(new Set(keys).size).toBe(players.length * 2);
  expect(Math.max(...keys.map((key) => key.length))).toBeLessThanOrEqual(255);
});

test('a player sees an attempt without its score, metadata and player_ref', async () => {
  const { api, ask } = setUp();
  const outcome = {
    attempt_id: ID,
    score: 87.5,
    met_threshold: true,
    threshold_applied: 80,
    recorded_at: '2026-01-31T12:01:00.000Z',
    receipt_id: ID,
    award: { id: ID, amount: '5.00', paid_at: null },
  };
  api.attempts.retrieve.mockResolvedValue({ ...ATTEMPT, status: 'settled', outcome });
  expect((await ask('GET', `attempts/${ID}`)).body).toEqual({
    id: ID,
    challenge_id: ID,
    tournament_round_id: null,
    status: 'settled',
    fee_charged: '1.00',
    created_at: '2026-01-31T12:00:00.000Z',
    outcome: {
      met_threshold: true,
      threshold_applied: 80,
      recorded_at: '2026-01-31T12:01:00.000Z',
      receipt_id: ID,
      award: { amount: '5.00', paid_at: null },
    },
  });
});

test('another player’s attempt is answered like an unknown attempt', async () => {
  const { api, ask } = setUp();
  const others = await ask('GET', `attempts/${ID}`, { headers: { 'x-player': 'bob' } });
  api.attempts.retrieve.mockRejectedValue(laurelError('not_found', 404));
  const unknown = await ask('GET', `attempts/${ID}`);
  expect([others.status, others.body.error.code]).toEqual([404, 'not_found']);
  expect([unknown.status, unknown.body.error.code]).toEqual([404, 'not_found']);
  expect(unknown.text).toBe(others.text);
  expect([...unknown.headers]).toEqual([...others.headers]);
});

test('a board shows only the player’s own payout status', async () => {
  const asked: (readonly string[])[] = [];
  const playerNames = (refs: readonly string[]) => {
    asked.push(refs);
    return new Map([['bob@example.com', 'Bob']]);
  };
  const { api, ask } = setUp({ playerNames });
  const row = {
    best_score: 9,
    best_tiebreak: null,
    best_score_at: '2026-01-31T12:05:00.000Z',
    paid_attempts: 3,
    payout_amount: '5.00',
    payout_status: 'held',
  };
  const data = [
    { ...row, rank: 1, final_rank: 1, player_ref: 'bob@example.com' },
    { ...row, rank: 2, final_rank: 2, player_ref: 'ann', is_player: true as const },
    // This row has the player's ref from a time when the ref named another account.
    { ...row, rank: 3, final_rank: 3, player_ref: 'ann' },
  ];
  api.rounds.leaderboard.mockResolvedValue({ round: ROUND, scored_players: 3, data });
  const { body, text } = await ask('GET', `rounds/${ID}/leaderboard`);
  const seen = {
    best_score: 9,
    best_tiebreak: null,
    best_score_at: '2026-01-31T12:05:00.000Z',
    payout_amount: '5.00',
  };
  const { pool_amount, ...round } = ROUND;
  expect(body).toEqual({
    round,
    scored_players: 3,
    data: [
      { ...seen, rank: 1, final_rank: 1, is_you: false, name: 'Bob' },
      { ...seen, rank: 2, final_rank: 2, is_you: true, name: null, paid_attempts: 3, payout_status: 'held' },
      { ...seen, rank: 3, final_rank: 3, is_you: false, name: null },
    ],
  });
  expect(text).not.toMatch(/@|pool_amount/);
  expect(asked).toEqual([['bob@example.com', 'ann', 'ann']]);
  expect(api.rounds.leaderboard.mock.calls).toEqual([[ID, { player_ref: 'ann' }]]);
});

test('a board that the player has not entered stays locked', async () => {
  const { api, ask } = setUp();
  api.rounds.leaderboard.mockResolvedValue({ locked: true, reason: 'enter_to_see', round: ROUND, scored_players: 2 });
  const { body } = await ask('GET', `rounds/${ID}/leaderboard`);
  expect(body).toMatchObject({ locked: true, reason: 'enter_to_see', scored_players: 2 });
  expect(body).not.toHaveProperty('data');
});

test('every outcome is 410, for any player and from any origin', async () => {
  const { api, ask } = setUp();
  for (const method of ['POST', 'GET', 'PUT']) {
    for (const path of [`attempts/${ID}/outcome`, `attempts/${ID}/outcome/`, 'outcomes', 'outcome']) {
      const answer = await ask(method, path, { headers: { 'x-player': '', 'sec-fetch-site': 'cross-site' } });
      expect([answer.status, answer.body.error.code]).toEqual([410, 'client_reporting_removed']);
    }
  }
  expect(api.attempts.retrieve).not.toHaveBeenCalled();
});

test('a request without a signed-in player is 401 without a call to Laurel', async () => {
  const { api, ask } = setUp({ authenticate: () => null });
  for (const [method, path] of [
    ['GET', 'challenges'],
    ['POST', 'attempts'],
    ['GET', `attempts/${ID}`],
  ] as const) {
    expect(await ask(method, path)).toMatchObject({ status: 401, body: refused('unauthorized') });
  }
  expect(api.challenges.list).not.toHaveBeenCalled();
});

test('a player_ref that is not well-formed text is a server error and charges no player', async () => {
  for (const wrong of [5, true, {}, ['ann'], Object('ann'), 'a\ud800']) {
    const { api, ask, onError } = setUp({ authenticate: () => wrong as string });
    for (const [method, path, body] of [
      ['GET', 'challenges', undefined],
      ['POST', 'attempts', { arm_id: ARM, challenge_id: ID }],
    ] as const) {
      expect(await ask(method, path, { body })).toMatchObject({ status: 500, body: refused('internal_error') });
    }
    expect(onError.mock.calls).toMatchObject([
      [expect.any(TypeError), {}],
      [expect.any(TypeError), {}],
    ]);
    expect(api.attempts.create).not.toHaveBeenCalled();
  }
  expect((await setUp({ authenticate: () => undefined as never }).ask('GET', 'challenges')).status).toBe(401);
});

test('createPlayerHandler throws a TypeError for options that can only be a mistake', () => {
  for (const wrong of [
    { authenticate: undefined },
    { authenticate: 'ann' },
    { playerNames: new Map() },
    { onError: null },
    { origin: null },
    { origin: [SITE] },
    { origin: `${SITE}/` },
    { origin: 'game.example.com' },
  ]) {
    expect(() => setUp(wrong as unknown as Partial<PlayerHandlerOptions>)).toThrow(TypeError);
  }
});

test.each([
  ['POST', { 'sec-fetch-site': 'cross-site' }, 403],
  ['POST', { 'sec-fetch-site': 'same-site' }, 403],
  ['POST', { 'sec-fetch-site': 'none' }, 403],
  ['POST', { 'sec-fetch-site': 'cross-site', origin: SITE }, 403],
  ['POST', { origin: 'https://evil.example.com' }, 403],
  ['POST', { origin: 'null' }, 403],
  ['POST', {}, 403],
  ['POST', { origin: SITE }, 201],
  ['POST', { origin: 'http://game.example.com' }, 201],
  ['GET', { 'sec-fetch-site': 'cross-site' }, 403],
  ['GET', { 'sec-fetch-site': 'none' }, 200],
  ['GET', {}, 200],
])('a %s with %o is answered %i', async (method, headers, status) => {
  const { handler } = setUp();
  const isGet = method === 'GET';
  const request = new Request(`${SITE}/laurel/${isGet ? 'challenges' : 'attempts'}`, {
    method,
    headers: { 'x-player': 'ann', 'content-type': 'application/json', ...headers },
    ...(!isGet && { body: JSON.stringify({ arm_id: ARM, challenge_id: ID }) }),
  });
  const response = await handler(request);
  expect(response.status).toBe(status);
  expect(response.headers.has('access-control-allow-origin')).toBe(false);
});

test('the scheme of the request’s origin must match that of a configured public origin', async () => {
  const { handler } = setUp({ origin: SITE });
  const send = (origin: string) =>
    handler(
      new Request('http://10.0.0.7/laurel/attempts', {
        method: 'POST',
        headers: { 'x-player': 'ann', 'content-type': 'application/json', origin },
        body: JSON.stringify({ arm_id: ARM, challenge_id: ID }),
      }),
    );
  expect([(await send(SITE)).status, (await send('http://game.example.com')).status]).toEqual([201, 403]);
});

test.each([
  ['no arm', { challenge_id: ID }],
  ['a short arm', { arm_id: 'abc', challenge_id: ID }],
  ['an arm with spaces', { arm_id: 'a b'.repeat(9), challenge_id: ID }],
  ['both targets', { arm_id: ARM, challenge_id: ID, tournament_round_id: ID }],
  ['no target', { arm_id: ARM }],
  ['a list', [ARM]],
  ['null', null],
  ['no JSON', '{'],
  ['too long a body', { arm_id: ARM, challenge_id: ID, filler: 'x'.repeat(5_000) }],
])('%s is 400 and charges nothing', async (_, body) => {
  const { api, ask } = setUp();
  expect(await ask('POST', 'attempts', { body })).toMatchObject({ status: 400, body: refused('invalid_request') });
  expect(api.attempts.create).not.toHaveBeenCalled();
});

test('a body that is not sent as JSON is 400', async () => {
  const { ask } = setUp();
  const headers = { 'content-type': 'text/plain' };
  expect((await ask('POST', 'attempts', { body: { arm_id: ARM, challenge_id: ID }, headers })).status).toBe(400);
});

test.each([
  ['GET', 'attempts/..%2Ftournaments'],
  ['GET', 'attempts/1'],
  ['GET', 'rounds/1/leaderboard'],
  ['GET', 'tournaments'],
  ['DELETE', `attempts/${ID}`],
  ['PUT', 'attempts'],
  ['POST', 'challenges'],
])('%s %s does not exist', async (method, path) => {
  expect(await setUp().ask(method, path)).toMatchObject({ status: 404, body: refused('not_found') });
});

test('a refusal of Laurel keeps its status and code', async () => {
  for (const [status, code] of [
    [402, 'insufficient_funds'],
    [403, 'blocked'],
    [409, 'attempt_cap_reached'],
  ] as const) {
    const { api, ask, onError } = setUp();
    api.attempts.create.mockRejectedValue(laurelError(code, status));
    const answer = await ask('POST', 'attempts', { body: { arm_id: ARM, challenge_id: ID } });
    expect(answer).toMatchObject({ status, body: refused(code) });
    expect(onError).not.toHaveBeenCalled();
  }
});

test('a player reads the API’s message, but not the SDK’s message for the developer', async () => {
  const { api, ask } = setUp();
  const read = async (error: LaurelError) => {
    api.attempts.create.mockRejectedValue(error);
    return (await ask('POST', 'attempts', { body: { arm_id: ARM, challenge_id: ID } })).body.error.message;
  };
  expect(await read(laurelError('blocked', 403))).toBe('Laurel says blocked');
  const withoutMessage = new LaurelError('blocked', 'POST /v1/attempts: blocked', { status: 403 });
  expect(await read(withoutMessage)).not.toContain('/v1');
  expect(await read(new LaurelError('rate_limited', 'POST /v1/attempts: too many', { status: 429 }))).not.toContain(
    '/v1',
  );
});

test.each<[string, LaurelError, string]>([
  ['an answer of Laurel', laurelError('rate_limited', 429, 1_200), '2'],
  [
    'calls that the client did not send, until the minute is over',
    laurelError('rate_limited', undefined, 59_001),
    '60',
  ],
  ['an answer without a time', laurelError('rate_limited', 429), '1'],
])('Laurel’s rate limit is passed on with its delay in whole seconds: %s', async (_, error, seconds) => {
  const { api, ask, onError } = setUp();
  api.challenges.list.mockRejectedValue(error);
  const { status, headers, body } = await ask('GET', 'challenges');
  expect([status, headers.get('retry-after'), body.error.code]).toEqual([429, seconds, 'rate_limited']);
  expect(onError).not.toHaveBeenCalled();
});

describe('the requests of one player in a minute', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-01-31T12:00:15.000Z') }));
  afterEach(() => void vi.useRealTimers());

  const spend = async ({ ask }: ReturnType<typeof setUp>, requests: number) => {
    const statuses: number[] = [];
    for (let request = 0; request < requests; request += 1) statuses.push((await ask('GET', 'challenges')).status);
    return statuses;
  };

  test('a player’s 61st request in a minute is 429 until the next minute', async () => {
    const set = setUp();
    expect(await spend(set, 60)).toEqual(Array(60).fill(200));
    const { status, headers, body } = await set.ask('GET', 'challenges');
    expect([status, headers.get('retry-after'), body.error.code]).toEqual([429, '45', 'rate_limited']);
    expect(set.api.challenges.list).toHaveBeenCalledTimes(60);
    expect(set.onError).not.toHaveBeenCalled();
    vi.setSystemTime('2026-01-31T12:00:59.999Z');
    expect((await set.ask('GET', 'challenges')).headers.get('retry-after')).toBe('1');
    vi.setSystemTime('2026-01-31T12:01:00.000Z');
    expect(await spend(set, 61)).toEqual([...Array(60).fill(200), 429]);
  });

  test('a player who is over the limit delays no other player', async () => {
    const set = setUp({ playerRequestsPerMinute: 1 });
    expect(await spend(set, 2)).toEqual([200, 429]);
    expect((await set.ask('GET', 'challenges', { headers: { 'x-player': 'bob' } })).status).toBe(200);
  });

  test('only requests of a signed-in player that were not refused count towards the limit', async () => {
    const { api, ask } = setUp({ playerRequestsPerMinute: 4 });
    api.rounds.leaderboard.mockResolvedValue({ locked: true, reason: 'enter_to_see', round: ROUND, scored_players: 0 });
    const body = { arm_id: ARM, challenge_id: ID };
    for (const [method, path, options, status] of [
      ['GET', 'challenges', { headers: { 'x-player': '' } }, 401],
      ['POST', 'attempts', { body, headers: { 'sec-fetch-site': 'cross-site' } }, 403],
      ['GET', 'tournaments', {}, 404],
      ['POST', `attempts/${ID}/outcome`, { body }, 410],
      ['GET', 'challenges', {}, 200],
      ['GET', `rounds/${ID}/leaderboard`, {}, 200],
      ['POST', 'attempts', { body }, 201],
      ['GET', `attempts/${ID}`, {}, 200],
      ['POST', 'attempts', { body }, 429],
      ['GET', `attempts/${ID}`, {}, 429],
    ] as const) {
      expect([path, (await ask(method, path, options)).status]).toEqual([path, status]);
    }
    expect([api.attempts.create.mock.calls.length, api.attempts.retrieve.mock.calls.length]).toEqual([1, 1]);
  });

  test.each([0, -1, 1.5, Number.NaN, '60'])('a budget of %s requests is a TypeError', (playerRequestsPerMinute) => {
    expect(() => setUp({ playerRequestsPerMinute: playerRequestsPerMinute as number })).toThrow(TypeError);
  });
});

test.each([
  ['the server’s key was refused', laurelError('unauthorized', 401), 502],
  ['Laurel failed', laurelError('internal_error', 500), 502],
  ['Laurel was not reached', laurelError('network'), 502],
  ['Laurel did not answer in time', laurelError('timeout'), 502],
  ['something in between answered 403', laurelError('network', 403), 502],
  ['something in between answered 404', laurelError('network', 404), 502],
  ['something in between answered 409', laurelError('network', 409), 502],
  ['something in between answered late, with a 408', laurelError('timeout', 408), 502],
  ['something in between answered 404 with the code of a 403', laurelError('blocked', 404), 502],
  ['the sandbox refused', laurelError('conflict', 409), 502],
  ['the handler’s own surroundings failed', new Error('no session store at 10.0.0.3'), 500],
])('%s: the player gets internal_error without a detail, and the server gets the error', async (_, error, status) => {
  const { api, ask, onError } = setUp();
  api.challenges.list.mockRejectedValue(error);
  const answer = await ask('GET', 'challenges');
  expect(answer).toMatchObject({ status, body: refused('internal_error') });
  expect(answer.text).not.toContain(error.message);
  expect(onError.mock.calls.map(([seen]) => seen)).toEqual([error]);
});

test('a charge is repeated with the same key although a proxy’s page follows the lost reply', async () => {
  const replies = [
    new Error('the reply was lost'),
    new Response('<html>Not found', { status: 404 }),
    Response.json(ATTEMPT, { status: 201 }),
  ];
  const sent: FetchRequest[] = [];
  const laurel = new Laurel({
    apiKey: `sk_test_${'a'.repeat(49)}`,
    baseUrl: 'https://api.example.com',
    fetch: async (_url, request) => {
      sent.push(request);
      const reply = replies.shift();
      if (reply instanceof Response) return reply;
      throw reply;
    },
  });
  const { ask, onError } = setUp({ laurel });
  const click = () => ask('POST', 'attempts', { body: { arm_id: ARM, challenge_id: ID } });
  expect(await click()).toMatchObject({ status: 502, body: refused('internal_error') });
  expect(onError.mock.calls).toMatchObject([[{ code: 'network', status: 404 }, {}]]);
  expect(await click()).toMatchObject({ status: 201, body: { id: ID } });
  expect(sent.map(({ headers, body }) => [headers['idempotency-key'], body])).toEqual(
    Array(3).fill([
      expect.stringMatching(/^arm-[\da-f]{64}$/),
      JSON.stringify({ player_ref: 'ann', challenge_id: ID }),
    ]),
  );
  expect(new Set(sent.map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
});

test('a listener of node:http reads a streamed or a parsed body', async () => {
  const { handler } = setUp();
  const listener = toNodeListener(handler);
  let parsed: unknown;
  await using server = createServer((request, response) => {
    void listener(Object.assign(request, parsed === undefined ? {} : { body: parsed }), response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const post = (path: string, body: string, headers: Record<string, string>) =>
    fetch(base + path, {
      method: 'POST',
      headers: { 'x-player': 'ann', 'content-type': 'application/json', ...headers },
      body,
    });
  const body = JSON.stringify({ arm_id: ARM, challenge_id: ID });
  const site = { 'sec-fetch-site': 'same-origin' };
  expect((await post('/laurel/attempts', body, site)).status).toBe(201);
  expect((await post('/laurel/attempts', 'x'.repeat(200_000), site)).status).toBe(400);
  expect((await post('//evil.example.com/attempts', body, { origin: 'http://evil.example.com' })).status).toBe(403);
  parsed = JSON.parse(body);
  expect((await post('/laurel/attempts', '', site)).status).toBe(201);
});

test('middleware passes an error of the handler to next', async () => {
  const error = new Error('broken');
  const next = vi.fn();
  const listener = toNodeListener(() => Promise.reject(error));
  const request = Object.assign((async function* () {})(), { url: '/', headers: {} });
  await listener(request, { statusCode: 200, setHeader: vi.fn(), end: vi.fn() }, next);
  expect(next.mock.calls).toEqual([[error]]);
});
