import { beforeEach, describe, expect, test } from 'vitest';
import { LaurelError } from './errors.ts';
import { createFakeClock, type FakeClock } from './fake-clock.fixture.ts';
import type { FetchRequest } from './fetch.ts';
import { type ApiRequest, Transport, type TransportOptions } from './transport.ts';

const KEY = `sk_test_${'0'.repeat(49)}`;
const COUNTED = { 'x-ratelimit-limit': '300', 'x-ratelimit-remaining': '250', 'x-request-id': 'request-1' };

type Reply = Response | Error | 'hangs';

const ok = (body: unknown = { id: 'a' }, headers = {}) => Response.json(body, { headers: { ...COUNTED, ...headers } });
const refused = (status: number, code: string, headers = {}) =>
  Response.json(
    { error: { code, message: 'No.', details: { field: 'x' } } },
    { status, headers: { ...COUNTED, ...headers } },
  );
const limited = (seconds: number) =>
  Response.json(
    { error: 'Too many requests.', retry_after: seconds, limit: 300, reset_at: '2026-01-31T12:01:00.000Z' },
    { status: 429, headers: { ...COUNTED, 'retry-after': String(seconds) } },
  );

const CREATE: ApiRequest = {
  method: 'POST',
  path: '/v1/attempts',
  operation: 'POST /v1/attempts',
  repetition: 'harmless',
  body: '{"score":1}',
  idempotencyKey: 'match-1',
};

describe('a call', () => {
  let clock: FakeClock;
  let sent: { url: string; request: FetchRequest; at: number }[];
  beforeEach(() => {
    clock = createFakeClock();
    clock.chance = 0.5;
    sent = [];
  });

  /** Returns the replies in order, and the last one for every later request. */
  function transport(replies: readonly Reply[], options: Partial<TransportOptions> = {}): Transport {
    const fetch: TransportOptions['fetch'] = (url, request) => {
      const reply = replies[Math.min(sent.length, replies.length - 1)];
      sent.push({ url, request, at: clock.now() });
      if (reply === undefined || reply === 'hangs') return new Promise(() => {});
      return reply instanceof Error ? Promise.reject(reply) : Promise.resolve(reply.clone());
    };
    const limits = { timeoutMs: 10_000, deadlineMs: 90_000, maxRetries: 8 };
    return new Transport({ apiKey: KEY, baseUrl: 'https://api.example.com', fetch, ...limits, ...options }, clock);
  }

  /** The result of the call; `pending` if it has not ended within this time. */
  async function outcomeOf(call: Promise<unknown>, withinMs = 200_000): Promise<unknown> {
    let outcome: unknown = 'pending';
    void call.then(
      (value) => {
        outcome = value;
      },
      (error: unknown) => {
        outcome = error;
      },
    );
    await clock.advance(withinMs);
    return outcome;
  }

  test('a call resolves with the body and the metadata of its response', async () => {
    expect(await outcomeOf(transport([ok({ id: 'a' }, { 'idempotency-replayed': 'true' })]).send(CREATE), 0)).toEqual({
      data: { id: 'a' },
      requestId: 'request-1',
      replayed: true,
      rateLimit: { limit: 300, remaining: 250 },
      tries: 1,
    });
    expect(sent[0]?.url).toBe('https://api.example.com/v1/attempts');
    expect(sent[0]?.request).toMatchObject({
      method: 'POST',
      body: '{"score":1}',
      redirect: 'manual',
      headers: {
        'x-api-key': KEY,
        'idempotency-key': 'match-1',
        'content-type': 'application/json',
        accept: 'application/json',
      },
    });
    expect(clock.pending).toBe(0);
  });

  test('a call is repeated with the same bytes and key after a lost connection, a 500 or an intermediary’s 503', async () => {
    const replies = [new Error('reset'), refused(500, 'internal_error'), new Response('<html>', { status: 503 }), ok()];
    expect(await outcomeOf(transport(replies).send(CREATE))).toMatchObject({ data: { id: 'a' }, tries: 4 });
    expect(sent.map(({ at }) => at)).toEqual([0, 125, 375, 875]);
    expect(new Set(sent.map(({ request }) => request.body))).toEqual(new Set(['{"score":1}']));
    expect(new Set(sent.map(({ request }) => request.headers['idempotency-key']))).toEqual(new Set(['match-1']));
  });

  test('a refusal ends the call after one try', async () => {
    const error = await outcomeOf(transport([refused(409, 'entries_closed')]).send(CREATE));
    expect(error).toBeInstanceOf(LaurelError);
    expect(error).toMatchObject({
      name: 'LaurelError',
      code: 'entries_closed',
      message: 'POST /v1/attempts: entries_closed: No.',
      apiMessage: 'No.',
      status: 409,
      requestId: 'request-1',
      idempotencyKey: 'match-1',
      details: { field: 'x' },
    });
    expect(sent).toHaveLength(1);
  });

  test('a call that would lose a secret if repeated is sent once, except after a 429', async () => {
    const rotate: ApiRequest = { ...CREATE, repetition: 'once' };
    expect(await outcomeOf(transport([new Error('reset')]).send(rotate))).toMatchObject({ code: 'network' });
    expect(await outcomeOf(transport([refused(500, 'internal_error')]).send(rotate))).toMatchObject({ status: 500 });
    expect(await outcomeOf(transport(['hangs']).send(rotate))).toMatchObject({ code: 'timeout' });
    expect(sent).toHaveLength(3);
    sent = [];
    expect(await outcomeOf(transport([limited(1), ok()]).send(rotate))).toMatchObject({ tries: 2 });
  });

  test('a call that used up its repetitions fails with its last failure', async () => {
    const failing = transport([new Error('first'), new Error('last')], { maxRetries: 2 });
    const error = await outcomeOf(failing.send(CREATE));
    expect(error).toMatchObject({ code: 'network', message: 'POST /v1/attempts: last', idempotencyKey: 'match-1' });
    expect((error as Error).cause).toEqual(new Error('last'));
    expect(sent).toHaveLength(3);
  });

  test('a call with maxRetries 0 is sent once, even after a 429', async () => {
    for (const reply of [new Error('reset'), limited(2), refused(409, 'idempotency_in_progress')]) {
      sent = [];
      await outcomeOf(transport([reply, ok()], { maxRetries: 0 }).send(CREATE));
      expect(sent).toHaveLength(1);
    }
  });

  test('a try without a response is repeated at its timeout', async () => {
    expect(await outcomeOf(transport(['hangs', ok()]).send(CREATE))).toMatchObject({ tries: 2 });
    expect(sent[1]?.at).toBe(10_125);
    expect(sent[0]?.request.signal.aborted).toBe(true);
  });

  test('no try of a call begins or continues after the call’s deadline', async () => {
    const call = transport(['hangs'], { deadlineMs: 25_000 }).send(CREATE);
    expect(await outcomeOf(call, 24_999)).toBe('pending');
    expect(await outcomeOf(call, 1)).toMatchObject({ code: 'timeout' });
    expect(sent.map(({ at }) => at)).toEqual([0, 10_125, 20_375]);
    expect(clock.pending).toBe(0);
  });

  test('a call is repeated after idempotency_in_progress until the key is free', async () => {
    const busy = Array.from({ length: 30 }, () => refused(409, 'idempotency_in_progress', { 'retry-after': '2' }));
    expect(await outcomeOf(transport([...busy, ok()]).send(CREATE))).toMatchObject({ tries: 31 });
    expect(sent.at(-1)?.at).toBe(60_000);
  });

  test('a call is repeated after a response that is not JSON, because Laurel did not write it', async () => {
    expect(await outcomeOf(transport([new Response('<html>'), ok()]).send(CREATE))).toMatchObject({ tries: 2 });
  });

  test.each([
    ['a page', () => new Response('Forbidden', { status: 403 })],
    ['an envelope with a code that the API does not have', () => refused(403, 'Forbidden')],
    ['an envelope with the name of a method', () => refused(403, 'toString')],
    ['an envelope with a number', () => Response.json({ error: { code: 403, message: 'No.' } }, { status: 403 })],
  ])('%s is a network failure with its status, not a refusal of the API', async (_, reply) => {
    const error = await outcomeOf(transport([reply()]).send(CREATE));
    expect(error).toMatchObject({ code: 'network', status: 403 });
  });

  test('an aborted call rejects with the reason of its signal', async () => {
    const leave = new Error('the player left');
    const before = transport([ok()]).send({ ...CREATE, signal: AbortSignal.abort(leave) });
    expect(await outcomeOf(before, 0)).toBe(leave);
    expect(sent).toHaveLength(0);
    for (const reply of ['hangs', new Error('reset'), limited(5)] as const) {
      const controller = new AbortController();
      const call = transport([reply]).send({ ...CREATE, signal: controller.signal });
      expect(await outcomeOf(call, 100)).toBe('pending');
      controller.abort(leave);
      expect(await outcomeOf(call, 0)).toBe(leave);
    }
  });

  test('a call that is aborted in the tick in which it begins sends nothing', async () => {
    const shared = transport([ok()]);
    const leave = new Error('the player left');
    const ends = Array.from({ length: 10 }, () => {
      const controller = new AbortController();
      const end = shared.send({ ...CREATE, signal: controller.signal }).catch((error: unknown) => error);
      controller.abort(leave);
      return end;
    });
    await clock.advance(0);
    expect(sent).toHaveLength(0);
    expect(await Promise.all(ends)).toEqual(Array(10).fill(leave));
    expect(await outcomeOf(shared.send(CREATE), 0)).toMatchObject({ tries: 1 });
    expect(clock.pending).toBe(0);
  });

  test('all calls of a client wait after a 429', async () => {
    const shared = transport([limited(30), ok()]);
    const calls = Promise.all([shared.send(CREATE), shared.send({ ...CREATE, method: 'GET' })]);
    await clock.advance(0);
    const later = shared.send(CREATE);
    await clock.advance(30_249);
    expect(sent).toHaveLength(2);
    await clock.advance(1);
    expect((await Promise.all([calls, later])).flat().map(({ tries }) => tries)).toEqual([2, 1, 1]);
  });

  test('a call that the rate limit delays beyond its deadline fails as rate_limited', async () => {
    const shared = transport([limited(60)], { deadlineMs: 20_000 });
    expect(await outcomeOf(shared.send(CREATE), 0)).toMatchObject({
      code: 'rate_limited',
      status: 429,
      retryAfterMs: 60_000,
    });
    expect(await outcomeOf(shared.send(CREATE), 0)).toMatchObject({ code: 'rate_limited', idempotencyKey: 'match-1' });
    expect(sent).toHaveLength(1);
  });

  test('a call waits one second after an intermediary’s 429 without a time to wait', async () => {
    const bare = new Response('<html>', { status: 429 });
    const error = await outcomeOf(transport([bare], { maxRetries: 0 }).send(CREATE), 0);
    expect(error).toMatchObject({ code: 'rate_limited', retryAfterMs: 1_000, apiMessage: undefined });
    sent = [];
    expect(await outcomeOf(transport([bare, ok()]).send(CREATE))).toMatchObject({ tries: 2 });
    expect(sent[1]).toMatchObject({ at: (sent[0]?.at ?? 0) + 1_250 });
  });

  test('a Retry-After beyond the range of a timer counts as an hour', async () => {
    const shared = transport([limited(999_999_999)], { deadlineMs: 20_000 });
    const hour = { retryAfterMs: 3_600_000 };
    expect(await outcomeOf(shared.send(CREATE), 0)).toMatchObject({ code: 'rate_limited', ...hour });
    const busy = new Response('<html>', { status: 503, headers: { 'retry-after': '2147484' } });
    expect(await outcomeOf(transport([busy], { deadlineMs: 20_000 }).send(CREATE), 0)).toMatchObject(hour);
    await clock.advance(3_580_249);
    expect(await outcomeOf(shared.send(CREATE), 0)).toMatchObject({ code: 'rate_limited', retryAfterMs: 20_001 });
    await clock.advance(2);
    expect(await outcomeOf(shared.send(CREATE), 19_998)).toBe('pending');
    expect(sent).toHaveLength(2);
    await clock.advance(1);
    expect(sent).toHaveLength(3);
  });

  test('no failure shows the API key', async () => {
    for (const reply of [
      new Error('reset'),
      refused(401, 'unauthorized'),
      limited(60),
      new Response('x', { status: 404 }),
    ]) {
      const error = (await outcomeOf(transport([reply], { maxRetries: 0 }).send(CREATE))) as LaurelError;
      expect(error).toBeInstanceOf(LaurelError);
      expect(JSON.stringify([error.message, error.stack, error])).not.toContain(KEY);
    }
  });
});
