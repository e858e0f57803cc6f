import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { STATUS_OF_CODE } from './closed-sets.ts';
import { LaurelBrowserError } from './errors.ts';
import { PlayerClient } from './player-client.ts';
import type { PlayerState } from './player-state.ts';
import type { InitOptions } from './transport.ts';

const HOUR_MS = 3_600_000;
const TARGET = { challengeId: 'c1' };

const attempt = (status = 'open') => ({ id: 'a1', status, challenge_id: 'c1', outcome: null });
const refusal = (code: string) => ({ error: { code, message: `Laurel says ${code}` } });

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly headers: Headers;
  readonly body: { readonly arm_id: string } & Record<string, unknown>;
}

type Reply = { readonly status?: number; readonly body: unknown } | 'none';

/**
 * A tab, whose storage outlives its pages. Each page is a client that gets the replies in
 * `replies`, and then the last one repeatedly.
 */
function openTab() {
  const kept = new Map<string, string>();
  const storage: NonNullable<InitOptions['storage']> = {
    getItem: (key) => kept.get(key) ?? null,
    setItem: (key, value) => void kept.set(key, value),
    removeItem: (key) => void kept.delete(key),
  };
  const sent: Sent[] = [];
  const openPage = (...replies: readonly Reply[]) => {
    let next = 0;
    const client = new PlayerClient();
    const states: PlayerState['status'][] = [];
    client.addEventListener('statechange', () => states.push(client.state.status));
    const init = (options: Partial<InitOptions> = {}) =>
      client.init({
        endpoint: '/laurel',
        storage,
        fetch: async (input, request = {}) => {
          const { method = 'GET', headers, body } = request;
          sent.push({
            method,
            path: String(input),
            headers: new Headers(headers),
            body: JSON.parse(String(body ?? '{}')),
          });
          const reply = replies[Math.min(next++, replies.length - 1)] ?? 'none';
          if (reply === 'none') throw new TypeError('fetch failed');
          const text = typeof reply.body === 'string' ? reply.body : JSON.stringify(reply.body);
          return new Response(text, { status: reply.status ?? 200 });
        },
        ...options,
      });
    init();
    return { client, states, init };
  };
  return { kept, sent, openPage };
}

const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'resolved',
    (error: LaurelBrowserError) => error.code,
  );

describe('paying', () => {
  test('three clicks send one request and create one attempt', async () => {
    const { sent, openPage } = openTab();
    const { client, states } = openPage({ status: 201, body: attempt() });
    client.arm(TARGET);
    const attempts = await Promise.all([client.begin(), client.begin(), client.begin()]);
    expect(await client.begin()).toBe(attempts[0]);
    expect(new Set(attempts).size).toBe(1);
    expect(sent).toMatchObject([{ method: 'POST', path: '/laurel/attempts', body: { challenge_id: 'c1' } }]);
    expect(states).toEqual(['idle', 'armed', 'paying', 'open']);
  });

  test('begin() for a round sends the id of the round', async () => {
    const { sent, openPage } = openTab();
    const { client } = openPage({ status: 402, body: refusal('insufficient_funds') });
    for (const _ of [1, 2]) {
      client.arm({ roundId: 'r1' });
      expect(await codeOf(client.begin())).toBe('insufficient_funds');
    }
    expect(Object.keys(sent[0]?.body ?? {}).toSorted()).toEqual(['arm_id', 'tournament_round_id']);
    expect(sent[0]?.body.arm_id).toMatch(/^[\da-f]{32}$/);
    expect(sent[0]?.body.arm_id).not.toBe(sent[1]?.body.arm_id);
  });

  test.each<[string, Reply]>([
    ['no answer', 'none'],
    ['a failure of the server', { status: 502, body: refusal('internal_error') }],
    ['a page of a proxy', { status: 503, body: '<html>' }],
    ['a page in place of an answer', { status: 200, body: '<html>' }],
    ['a rate limit', { status: 429, body: refusal('rate_limited') }],
    ['a request of the same arm under way', { status: 409, body: refusal('idempotency_in_progress') }],
    ['a page of a proxy with a status of refusals', { status: 404, body: '<html>' }],
    ['a refusal in another form than the server’s', { status: 403, body: { error: { code: 403, message: 'No.' } } }],
    ['an answer of something before Laurel, 403', { status: 403, body: refusal('network') }],
    ['an answer of something before Laurel, 404', { status: 404, body: refusal('network') }],
    ['an answer of something before Laurel, 409', { status: 409, body: refusal('network') }],
    ['no answer of Laurel in time', { status: 409, body: refusal('timeout') }],
    ['a timeout of the server', { status: 408, body: refusal('request_timeout') }],
    ['a page that the server takes for another site’s', { status: 403, body: refusal('cross_origin') }],
    ['a limit of something in between', { status: 413, body: refusal('too_large') }],
  ])('after %s the same arm is sent again, over a reload too', async (_, reply) => {
    const { sent, openPage } = openTab();
    const before = openPage(reply);
    before.client.arm(TARGET);
    expect(await codeOf(before.client.begin())).not.toBe('resolved');
    expect(await codeOf(before.client.begin())).not.toBe('resolved');
    const after = openPage({ status: 201, body: attempt() });
    expect(after.client.state).toEqual({ status: 'unconfirmed', target: TARGET });
    expect(() => after.client.arm(TARGET)).toThrow(expect.objectContaining({ code: 'attempt_in_progress' }));
    expect(await after.client.begin()).toEqual(attempt());
    expect(new Set(sent.map(({ body }) => body.arm_id)).size).toBe(1);
    expect(sent.length).toBe(3);
  });

  test.each([
    [400, 'invalid_request', 'unknown'],
    [402, 'insufficient_funds', 'insufficient_funds'],
    [403, 'blocked', 'blocked'],
    [403, 'insider_entry', 'unknown'],
    [404, 'not_found', 'unknown'],
    [409, 'challenge_not_available', 'challenge_not_available'],
    [409, 'attempt_cap_reached', 'attempt_cap_reached'],
    [409, 'idempotency_key_reused', 'idempotency_key_reused'],
    [410, 'client_reporting_removed', 'client_reporting_removed'],
  ])('a response %i %s throws %s, and disarms', async (status, serverCode, code) => {
    const { kept, openPage } = openTab();
    const { client } = openPage({ status, body: refusal(serverCode) });
    client.arm(TARGET);
    const message = `Laurel says ${serverCode}`;
    await expect(client.begin()).rejects.toMatchObject({ code, serverCode, status, message });
    expect(client.state).toEqual({ status: 'idle' });
    expect(kept.size).toBe(0);
    expect(await codeOf(client.begin())).toBe('not_armed');
  });

  test('an ended session leaves the arm unchanged', async () => {
    const { sent, openPage } = openTab();
    const { client } = openPage({ status: 401, body: '' }, { status: 201, body: attempt() });
    client.arm(TARGET);
    expect(await codeOf(client.begin())).toBe('unauthorized');
    expect(client.state.status).toBe('armed');
    await client.begin();
    expect(sent[0]?.body.arm_id).toBe(sent[1]?.body.arm_id);
  });

  test('a response after disarm does not affect the next arm', async () => {
    const { openPage } = openTab();
    const { client } = openPage({ status: 201, body: attempt() });
    client.arm(TARGET);
    const late = codeOf(client.begin());
    client.disarm();
    client.arm({ roundId: 'r1' });
    expect(await late).toBe('not_armed');
    expect(client.state).toEqual({ status: 'armed', target: { roundId: 'r1' } });
  });

  test('begin reads the open attempt after a reload instead of paying again', async () => {
    const { sent, openPage } = openTab();
    const before = openPage({ status: 201, body: attempt() });
    before.client.arm(TARGET);
    await before.client.begin();
    const { client } = openPage({ body: attempt() });
    expect(client.state).toEqual({ status: 'open', target: TARGET, attemptId: 'a1' });
    expect(await client.begin()).toEqual(attempt());
    expect(sent.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /laurel/attempts',
      'GET /laurel/attempts/a1',
    ]);
  });

  test.each([
    ['begin', 404, 'not_found', 'idle'],
    ['result', 404, 'not_found', 'idle'],
    ['begin', 502, 'internal_error', 'open'],
  ] as const)(
    'when %s reads an open attempt and gets a %i %s, the state is then %s',
    async (call, status, serverCode, state) => {
      const { kept, openPage } = openTab();
      const before = openPage({ status: 201, body: attempt() });
      before.client.arm(TARGET);
      await before.client.begin();
      const { client } = openPage({ status, body: refusal(serverCode) });
      await expect(client[call]()).rejects.toMatchObject({ code: 'unknown', status, serverCode });
      expect(client.state.status).toBe(state);
      expect(kept.size).toBe(state === 'idle' ? 0 : 1);
    },
  );
});

/** Error codes that a proxy may send: Laurel's own with a wrong status, and invented ones. */
const foreignCode = fc.oneof(
  fc.constantFrom(...Object.keys(STATUS_OF_CODE), 'conflict', 'client_reporting_removed', 'cross_origin', 'network'),
  fc.constantFrom('EBADCSRFTOKEN', 'FORBIDDEN', 'forbidden', 'Blocked', 'blocked ', 'toString', '__proto__'),
  fc.string(),
  fc.constantFrom(['blocked'], [['not_found']], { code: 'blocked' }, 403, null, true),
);
const foreignBody = fc.oneof(
  fc.record({ error: fc.record({ code: foreignCode, message: fc.jsonValue() }, { requiredKeys: [] }) }),
  fc.record({ code: foreignCode, error: fc.oneof(foreignCode, fc.jsonValue()), message: fc.string() }),
  fc.record({
    id: fc.constantFrom('a1', '', 1, null),
    status: fc.constantFrom('ok', 'maintenance', null, 'OPEN', 200),
  }),
  fc.jsonValue(),
);
const foreignText = fc.oneof(
  { weight: 9, arbitrary: foreignBody.map((body) => JSON.stringify(body)) },
  fc.constantFrom('', '<html>', '{"error":{"code":"blocked"', 'null', '[]', '"blocked"'),
);
const foreignStatus = fc.oneof(
  fc.constantFrom(200, 201, 301, ...Object.values(STATUS_OF_CODE)),
  fc.integer({ min: 200, max: 599 }),
);

/**
 * Whether a response with this status and text is a refusal by Laurel. Written independently of the
 * library.
 */
function isRefusedByLaurel(status: number, text: string): boolean {
  let code: unknown;
  try {
    code = JSON.parse(text)?.error?.code;
  } catch {
    return false;
  }
  if (code === 'unauthorized' || code === 'idempotency_in_progress' || code === 'internal_error') return false;
  if (code === 'client_reporting_removed') return status === 410;
  return Object.entries(STATUS_OF_CODE).some(([known, its]) => known === code && its === status);
}

describe('a response of an intermediary', () => {
  test('a 403 EBADCSRFTOKEN after a lost reply keeps the arm for the next click', async () => {
    const { sent, openPage } = openTab();
    const { client } = openPage(
      'none',
      { status: 403, body: refusal('EBADCSRFTOKEN') },
      { status: 201, body: attempt() },
    );
    client.arm(TARGET);
    expect(await codeOf(client.begin())).toBe('network');
    expect(await codeOf(client.begin())).toBe('unknown');
    expect(client.state).toEqual({ status: 'unconfirmed', target: TARGET });
    expect(() => client.arm(TARGET)).toThrow(expect.objectContaining({ code: 'attempt_in_progress' }));
    expect(await client.begin()).toEqual(attempt());
    expect(new Set(sent.map(({ body }) => body.arm_id)).size).toBe(1);
  });

  test('only an attempt or a code of the closed set with its own status ends the state unconfirmed', async () => {
    await fc.assert(
      fc.asyncProperty(foreignStatus, foreignText, async (status, text) => {
        const { sent, openPage } = openTab();
        const hasNoBody = status === 204 || status === 205 || status === 304;
        const { client, init } = openPage();
        const foreign = async () => new Response(hasNoBody ? null : text, { status });
        client.arm(TARGET);
        await codeOf(client.begin());
        init({ fetch: foreign });
        const error = await client.begin().catch((thrown: unknown) => thrown);
        expect(error).toBeInstanceOf(LaurelBrowserError);
        const isRefused = !hasNoBody && isRefusedByLaurel(status, text);
        expect([status, text, client.state.status]).toEqual([status, text, isRefused ? 'idle' : 'unconfirmed']);
        if (isRefused) return;
        init();
        await codeOf(client.begin());
        expect(new Set(sent.map(({ body }) => body.arm_id)).size).toBe(1);
      }),
      { numRuns: 1_000 },
    );
  });

  test('an open attempt ends only when a read shows its end or returns 404 not_found', async () => {
    await fc.assert(
      fc.asyncProperty(foreignStatus, foreignText, async (status, text) => {
        const { openPage } = openTab();
        const hasNoBody = status === 204 || status === 205 || status === 304;
        const { client, init } = openPage({ status: 201, body: attempt() });
        client.arm(TARGET);
        await client.begin();
        init({ fetch: async () => new Response(hasNoBody ? null : text, { status }) });
        await expect(client.begin()).rejects.toBeInstanceOf(LaurelBrowserError);
        const isGone = status === 404 && isRefusedByLaurel(status, text);
        expect([status, text, client.state.status]).toEqual([status, text, isGone ? 'idle' : 'open']);
      }),
      { numRuns: 300 },
    );
  });

  test.each([
    ['another attempt', { ...attempt('settled'), id: 'a2' }],
    ['a status of something else', attempt('maintenance')],
    ['no status', { id: 'a1' }],
  ])('a read that is answered with %s leaves the attempt open', async (_, body) => {
    const { openPage } = openTab();
    const { client, init } = openPage({ status: 201, body: attempt() });
    client.arm(TARGET);
    await client.begin();
    init({ fetch: async () => Response.json(body) });
    await expect(client.begin()).rejects.toMatchObject({ code: 'unknown', status: 200 });
    expect(client.state).toEqual({ status: 'open', target: TARGET, attemptId: 'a1' });
  });

  test('a 409 with a code of this library leaves the payment unconfirmed', async () => {
    for (const code of ['unauthorized', 'not_armed', 'attempt_in_progress', 'network', 'blocked', 'a_later_one']) {
      const { client } = openTab().openPage({ status: 409, body: refusal(code) });
      client.arm(TARGET);
      await expect(client.begin()).rejects.toMatchObject({ code: 'unknown', serverCode: code });
      expect(client.state.status).toBe('unconfirmed');
    }
  });

  test('a malformed list or board throws an error', async () => {
    for (const body of [{}, [], 'x', 1, { data: {} }, { status: 'maintenance' }]) {
      const { client } = openTab().openPage({ body });
      await expect(client.challenges()).rejects.toMatchObject({ code: 'unknown', status: 200 });
      await expect(client.leaderboard('r1')).rejects.toMatchObject({ code: 'unknown', status: 200 });
    }
  });
});

describe('a storage that is damaged or fails', () => {
  const ID = 'a'.repeat(32);
  const whole = { id: ID, target: TARGET, sentAt: Date.now(), attemptId: 'a1' };
  const without = (name: keyof typeof whole) => ({ ...whole, [name]: undefined });

  test.each([
    ['', '{', 'x', 'undefined', 'null', 'true', '1', '"x"', '[]', '{}'],
    [JSON.stringify(whole).slice(0, -1), JSON.stringify([whole]), JSON.stringify(JSON.stringify(whole))],
    [without('id'), without('target'), without('sentAt'), { ...whole, id: 1 }, { ...whole, id: 'x' }],
    [null, 'c1', [], {}, { challengeId: 1 }, { other: 'c1' }, { challengeId: 'c1', roundId: 'r1' }].map((target) => ({
      ...whole,
      target,
    })),
    [null, '1', [1], {}].map((sentAt) => ({ ...whole, sentAt })),
    [null, '', 1, [], {}].map((attemptId) => ({ ...whole, attemptId })),
  ])('a damaged value is forgotten by init, and the next arm pays: %#', async (...values) => {
    for (const value of values) {
      const { kept, openPage } = openTab();
      const { client, init } = openPage({ status: 201, body: attempt() });
      client.arm(TARGET);
      const [key = ''] = kept.keys();
      kept.set(key, typeof value === 'string' ? value : JSON.stringify(value));
      init();
      expect([value, client.state]).toEqual([value, { status: 'idle' }]);
      client.arm(TARGET);
      expect(await client.begin()).toEqual(attempt());
    }
  });

  test('init reads any stored text without an error', () => {
    const value = fc.oneof(
      fc.string(),
      fc.jsonValue().map((json) => JSON.stringify(json)),
    );
    fc.assert(
      fc.property(value, (text) => {
        const client = new PlayerClient();
        const storage = { getItem: () => text, setItem: vi.fn(), removeItem: vi.fn() };
        client.init({ endpoint: '/laurel', storage });
        expect(client.state).toEqual({ status: 'idle' });
      }),
    );
  });

  test('the client forgets an arm whose time is in the far future', () => {
    const { kept, openPage } = openTab();
    const { client, init } = openPage();
    client.arm(TARGET);
    const [key = ''] = kept.keys();
    kept.set(key, JSON.stringify({ id: ID, target: TARGET, sentAt: Date.now() + 13 * HOUR_MS }));
    init();
    client.arm({ roundId: 'r1' });
    expect(client.state).toEqual({ status: 'armed', target: { roundId: 'r1' } });
  });

  test('an arm that a full storage does not keep is not sent', async () => {
    const { sent, openPage } = openTab();
    const { client, init } = openPage({ status: 201, body: attempt() });
    const cause = new DOMException('The quota has been exceeded.', 'QuotaExceededError');
    let isFull = true;
    const setItem = () => {
      if (isFull) throw cause;
    };
    init({ storage: { getItem: () => null, setItem, removeItem: vi.fn() } });
    expect(() => client.arm(TARGET)).toThrow(
      expect.objectContaining({ name: 'LaurelBrowserError', code: 'unknown', cause }),
    );
    expect(client.state.status).toBe('idle');
    isFull = false;
    client.arm(TARGET);
    isFull = true;
    await expect(client.begin()).rejects.toMatchObject({ name: 'LaurelBrowserError', code: 'unknown', cause });
    expect(client.state.status).toBe('armed');
    expect(sent).toEqual([]);
  });

  test('a response counts even if the storage fails after it', async () => {
    const { kept, sent, openPage } = openTab();
    const fail = () => {
      throw new DOMException('The storage is gone.', 'InvalidStateError');
    };
    const before = openPage({ status: 201, body: attempt() });
    let writes = 0;
    const setItem = (key: string, value: string) => void (++writes > 2 ? fail() : kept.set(key, value));
    before.init({ storage: { getItem: () => null, setItem, removeItem: fail } });
    before.client.arm(TARGET);
    expect(await before.client.begin()).toEqual(attempt());
    expect(before.client.state).toEqual({ status: 'open', target: TARGET, attemptId: 'a1' });
    const after = openPage({ status: 201, body: attempt() });
    expect(after.client.state).toEqual({ status: 'unconfirmed', target: TARGET });
    await after.client.begin();
    expect(sent[1]?.body).toEqual(sent[0]?.body);
    expect(() => before.client.disarm()).toThrow(expect.objectContaining({ code: 'unknown' }));
    expect(before.client.state.status).toBe('idle');
  });
});

describe('an arm belongs to its player', () => {
  test('a second player on the same page does not reuse the first player’s arm', async () => {
    const { sent, openPage } = openTab();
    const { client, states, init } = openPage('none', { status: 201, body: attempt() });
    init({ player: 'ada' });
    client.arm(TARGET);
    expect(await codeOf(client.begin())).toBe('network');
    states.length = 0;

    init({ player: 'bob' });
    expect(client.state).toEqual({ status: 'idle' });
    expect(states).toEqual(['idle']);
    expect(await codeOf(client.begin())).toBe('not_armed');
    client.arm({ roundId: 'r1' });
    await client.begin();
    client.disarm();

    init({ player: 'ada' });
    expect(client.state).toEqual({ status: 'unconfirmed', target: TARGET });
    await client.begin();
    const [first, second, third] = sent.map(({ body }) => body);
    expect(second).toMatchObject({ tournament_round_id: 'r1' });
    expect(second?.arm_id).not.toBe(first?.arm_id);
    expect(third).toEqual(first);
    expect(sent.length).toBe(3);
  });

  test('the player’s name is not sent', async () => {
    const { kept, sent, openPage } = openTab();
    const { client, init } = openPage({ status: 201, body: attempt() });
    // The name is not hexadecimal, so a random id never contains it by chance.
    init({ player: 'zoe@example.com' });
    client.arm(TARGET);
    expect(sent).toEqual([]);
    expect([...kept.keys()].join()).toContain('zoe@example.com');
    await client.begin();
    const seen = sent.map(({ path, headers, body }) => JSON.stringify([path, [...headers], body]));
    expect(seen).toHaveLength(1);
    expect(seen.join()).not.toContain('zoe');
  });

  test('a response for a replaced player changes nothing for the next player', async () => {
    const { sent, openPage } = openTab();
    const { client, init } = openPage({ status: 201, body: attempt() });
    init({ player: 'ada' });
    client.arm(TARGET);
    const late = codeOf(client.begin());
    init({ player: 'bob' });
    client.arm({ roundId: 'r1' });
    expect(await late).toBe('not_armed');
    expect(client.state).toEqual({ status: 'armed', target: { roundId: 'r1' } });
    init({ player: 'ada' });
    expect(client.state).toEqual({ status: 'unconfirmed', target: TARGET });
    expect(await client.begin()).toEqual(attempt());
    expect(sent[1]?.body).toEqual(sent[0]?.body);
  });

  test('each player and each endpoint has an arm of its own', () => {
    const { kept, openPage } = openTab();
    const { client, init } = openPage();
    for (const options of [
      {},
      { player: '' },
      { player: 'b' },
      { endpoint: '/laurel:b' },
      { endpoint: '/laurel","b' },
    ]) {
      init(options);
      expect(client.state).toEqual({ status: 'idle' });
      client.arm(TARGET);
    }
    expect(kept.size).toBe(5);
  });

  test('no arm of the previous player can be paid for after a failed init', async () => {
    const { sent, openPage } = openTab();
    const { client, init } = openPage({ status: 201, body: attempt() });
    init({ player: 'ada' });
    client.arm(TARGET);
    const getItem = () => {
      throw new DOMException('The page may not use its storage.', 'SecurityError');
    };
    const refused = { getItem, setItem: vi.fn(), removeItem: vi.fn() };
    const headers = Promise.withResolvers<HeadersInit>();
    init({ player: 'ada', headers: () => headers.promise });
    const late = codeOf(client.begin());
    expect(() => init({ player: 'bob', storage: refused })).toThrow(DOMException);
    headers.resolve({});
    expect(await late).toBe('not_armed');
    expect(await codeOf(client.begin())).toBe('not_initialised');
    expect(sent).toEqual([]);
  });
});

describe('headers of a function', () => {
  const cause = new Error('The token cannot be renewed.');
  const failing = () => Promise.reject(cause);

  test('a headers function that fails leaves the arm unsent', async () => {
    const { kept, sent, openPage } = openTab();
    const { client, states, init } = openPage({ status: 201, body: attempt() });
    init({ headers: failing });
    client.arm(TARGET);
    states.length = 0;
    const error = await client.begin().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(LaurelBrowserError);
    expect(error).toMatchObject({ code: 'unknown', status: undefined, serverCode: undefined, cause });
    expect(states).toEqual(['paying', 'armed']);
    expect([...kept.values()].join()).not.toContain('sentAt');
    expect(sent).toEqual([]);
    await expect(client.challenges()).rejects.toMatchObject({ name: 'LaurelBrowserError', code: 'unknown', cause });
    client.arm({ roundId: 'r1' });
    init();
    await client.begin();
    expect(sent).toMatchObject([{ body: { tournament_round_id: 'r1' } }]);
  });

  test('a server key in the headers leaves the arm unsent', async () => {
    const { sent, openPage } = openTab();
    const { client, init } = openPage();
    init({ headers: () => ({ authorization: 'sk_live_0123456789abcdefghij' }) });
    client.arm(TARGET);
    await expect(client.begin()).rejects.toThrow(TypeError);
    expect(client.state.status).toBe('armed');
    expect(sent).toEqual([]);
  });

  test('a headers function that fails after a lost reply leaves the payment unconfirmed', async () => {
    const { openPage } = openTab();
    const { client, init } = openPage('none');
    client.arm(TARGET);
    expect(await codeOf(client.begin())).toBe('network');
    init({ headers: failing });
    expect(await codeOf(client.begin())).toBe('unknown');
    expect(client.state.status).toBe('unconfirmed');
  });

  test.each<[string, (page: ReturnType<ReturnType<typeof openTab>['openPage']>) => void, PlayerState['status']]>([
    ['disarmed', ({ client }) => client.disarm(), 'idle'],
    ['replaced by another player', ({ init }) => init({ player: 'bob' }), 'idle'],
    ['armed with another target', ({ client }) => client.arm({ roundId: 'r1' }), 'armed'],
  ])('a page that was %s while it awaited the headers sends nothing', async (_, change, status) => {
    const { sent, openPage } = openTab();
    const page = openPage({ status: 201, body: attempt() });
    const headers = Promise.withResolvers<HeadersInit>();
    page.init({ player: 'ada', headers: () => headers.promise });
    page.client.arm(TARGET);
    const late = codeOf(page.client.begin());
    change(page);
    headers.resolve({ authorization: 'Bearer 1' });
    expect(await late).toBe('not_armed');
    expect(page.client.state.status).toBe(status);
    expect(sent).toEqual([]);
  });
});

describe('time', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test.each([
    [11, 'unconfirmed'],
    [13, 'idle'],
  ])('%i hours after a payment without a response its arm is %s', async (hours, status) => {
    const { sent, openPage } = openTab();
    const before = openPage('none');
    before.client.arm(TARGET);
    await codeOf(before.client.begin());
    vi.advanceTimersByTime(hours * HOUR_MS);
    const { client } = openPage('none');
    const code = await codeOf(client.begin());
    expect([code, client.state.status]).toEqual([status === 'idle' ? 'not_armed' : 'network', status]);
    expect(sent.length).toBe(status === 'idle' ? 1 : 2);
  });

  test('result polls at growing intervals until the attempt is no longer open', async () => {
    const { kept, sent, openPage } = openTab();
    const open = { body: attempt() };
    const { client } = openPage(open, open, 'none', open, { body: attempt('settled') });
    client.arm(TARGET);
    await client.begin();
    const result = client.result();
    for (const [ms, requests] of [
      [0, 2],
      [500, 3],
      [1_000, 4],
      [2_000, 5],
    ] as const) {
      await vi.advanceTimersByTimeAsync(ms);
      expect(sent.length).toBe(requests);
    }
    expect(await result).toEqual(attempt('settled'));
    expect(client.state).toEqual({ status: 'ended', target: TARGET, attempt: attempt('settled') });
    expect(kept.size).toBe(0);
  });

  test('result sends eleven requests in its first minute', async () => {
    const { sent, openPage } = openTab();
    const { client } = openPage({ body: attempt() });
    client.arm(TARGET);
    await client.begin();
    const left = new AbortController();
    const code = codeOf(client.result({ signal: left.signal }));
    await vi.advanceTimersByTimeAsync(60_000);
    left.abort();
    await code;
    expect(sent.filter(({ method }) => method === 'GET').length).toBe(11);
  });

  test('result gives up after six failures in a row', async () => {
    const { sent, openPage } = openTab();
    const { client } = openPage({ body: attempt() }, 'none');
    client.arm(TARGET);
    await client.begin();
    const code = codeOf(client.result());
    await vi.advanceTimersByTimeAsync(60_000);
    expect([await code, sent.length, client.state.status]).toEqual(['network', 7, 'open']);
  });

  test('result rejects with the reason of its signal', async () => {
    const { openPage } = openTab();
    const { client } = openPage({ body: attempt() });
    client.arm(TARGET);
    await client.begin();
    const left = new AbortController();
    const result = client.result({ signal: left.signal });
    await vi.advanceTimersByTimeAsync(100);
    left.abort(new Error('left the page'));
    await expect(result).rejects.toThrow('left the page');
    expect(client.state.status).toBe('open');
  });
});

test('a server key in any option is refused before anything is sent', async () => {
  const ask = vi.fn();
  const storage = { getItem: () => null, setItem: vi.fn(), removeItem: vi.fn() };
  const base = { endpoint: '/laurel', storage, fetch: ask };
  const key = 'sk_test_0123456789abcdefghij';
  for (const wrong of [
    { ...base, endpoint: `/laurel?key=${key}` },
    { ...base, headers: { 'x-api-key': key } },
    { ...base, headers: [['x-api-key', key.replace('test', 'live')]] satisfies HeadersInit },
    { ...base, headers: new Headers({ authorization: `Bearer ${key}` }) },
    { ...base, apiKey: key },
    { ...base, nested: { deep: [key] } },
  ]) {
    expect(() => new PlayerClient().init(wrong)).toThrow(TypeError);
  }
  const client = new PlayerClient();
  client.init({ ...base, headers: async () => ({ authorization: key }) });
  await expect(client.challenges()).rejects.toThrow(TypeError);
  expect(ask).not.toHaveBeenCalled();
});

test('the headers function is called for every request', async () => {
  const ask = vi.fn<typeof fetch>(async () => Response.json({ data: [] }));
  const client = new PlayerClient();
  let count = 0;
  const storage = { getItem: () => null, setItem: vi.fn(), removeItem: vi.fn() };
  client.init({ endpoint: '/laurel', storage, fetch: ask, headers: () => ({ authorization: `Bearer ${++count}` }) });
  await client.challenges();
  await client.challenges();
  const tokens = ask.mock.calls.map(([, init]) => new Headers(init?.headers).get('authorization'));
  expect(tokens).toEqual(['Bearer 1', 'Bearer 2']);
});
