import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { parse } from 'yaml';
import type { FetchRequest } from './fetch.ts';
import { Laurel, LaurelError } from './index.ts';

interface Parameter {
  readonly name: string;
  readonly in: string;
}

interface Operation {
  readonly parameters: readonly Parameter[];
  readonly requestBody?: object;
  readonly responses: Readonly<Record<string, object>>;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, WrittenOperation>>>>;
  readonly components: { readonly parameters: Readonly<Record<string, Parameter>> };
}

type WrittenOperation = Omit<Operation, 'parameters'> & {
  readonly parameters?: readonly (Parameter | { readonly $ref: string })[];
};

const DOCUMENTS = new URL('../../../docs/openapi/', import.meta.url);
const ID = '01a19b7c-a680-84d5-8c30-75b7b3806f7f';
const KEYED = { idempotencyKey: 'key-1' };
const SHARES = { p5: 1, p25: 2, p50: 3, p75: 4, p95: 5 };
const SEED = { distribution: SHARES, sample_size: 500 };

/** Each method with all its arguments, by its operation in the documents. */
const CALLS: Readonly<Record<string, readonly [method: string, call: (laurel: Laurel) => Promise<unknown>]>> = {
  'GET /v1/challenges': ['challenges.list', (it) => it.challenges.list({ player_ref: 'p', status: 'all' })],
  'POST /v1/challenges/{id}/distribution': [
    'challenges.seedDistribution',
    (it) => it.challenges.seedDistribution(ID, { distribution: SHARES, sample_size: 500 }, KEYED),
  ],
  'POST /v1/players': ['players.link', (it) => it.players.link({ player_ref: 'p', email: 'p@example.com' })],
  'POST /v1/attempts': ['attempts.create', (it) => it.attempts.create({ challenge_id: ID, player_ref: 'p' }, KEYED)],
  'POST /v1/attempts/{attempt_id}/outcome': [
    'attempts.reportOutcome',
    (it) => it.attempts.reportOutcome(ID, { score: 1 }),
  ],
  'GET /v1/attempts/{attempt_id}': ['attempts.retrieve', (it) => it.attempts.retrieve(ID)],
  'GET /v1/tournaments': ['tournaments.list', (it) => it.tournaments.list({ status: 'all' })],
  'GET /v1/tournaments/rounds/{round_id}/leaderboard': [
    'rounds.leaderboard',
    (it) => it.rounds.leaderboard(ID, { player_ref: 'p' }),
  ],
  'POST /v1/integrations': ['integrations.create', (it) => it.integrations.create({ transport: 'push_webhook' })],
  'GET /v1/integrations': ['integrations.list', (it) => it.integrations.list()],
  'PATCH /v1/integrations/{id}': ['integrations.update', (it) => it.integrations.update(ID, { status: 'active' })],
  'POST /v1/integrations/{id}/rotate-secret': ['integrations.rotateSecret', (it) => it.integrations.rotateSecret(ID)],
  'DELETE /v1/integrations/{id}/previous-secret': [
    'integrations.retirePreviousSecret',
    (it) => it.integrations.retirePreviousSecret(ID),
  ],
  'POST /api/sandbox/players': ['sandbox.createPlayer', (it) => it.sandbox.createPlayer({ player_ref: 'p' })],
  'POST /api/sandbox/players/{playerRef}/hold-next-award': [
    'sandbox.holdNextAward',
    (it) => it.sandbox.holdNextAward(ID),
  ],
  'POST /api/sandbox/attempts/{attemptId}/expire': ['sandbox.expireAttempt', (it) => it.sandbox.expireAttempt(ID)],
  'POST /api/sandbox/rounds/{roundId}/close-entries': ['sandbox.closeEntries', (it) => it.sandbox.closeEntries(ID)],
  'POST /api/sandbox/rounds/{roundId}/close': ['sandbox.closeRound', (it) => it.sandbox.closeRound(ID)],
  'POST /api/sandbox/webhook-deliveries/{deliveryId}/retry-now': [
    'sandbox.retryDelivery',
    (it) => it.sandbox.retryDelivery(ID),
  ],
  'GET /api/sandbox/events': [
    'sandbox.listEvents',
    (it) => it.sandbox.listEvents({ after: 'c', from: 'now', limit: 1 }),
  ],
};

/**
 * The calls that are sent once, because a repetition would act again: add funds, use up a retry, or
 * replace a secret in use.
 */
const SENT_ONCE = ['integrations.create', 'integrations.rotateSecret', 'sandbox.createPlayer', 'sandbox.retryDelivery'];
/** The delay before the second try is a random part of this. */
const LONGEST_FIRST_DELAY_MS = 250;

/** A document's operations below a path, with their parameters resolved. */
function operationsOf(file: string, below: string): readonly (readonly [name: string, operation: Operation])[] {
  const { paths, components } = parse(readFileSync(new URL(file, DOCUMENTS), 'utf8')) as Document;
  const resolve = (parameter: Parameter | { readonly $ref: string }) =>
    '$ref' in parameter ? (components.parameters[parameter.$ref.split('/').at(-1) ?? ''] as Parameter) : parameter;
  return Object.entries(paths)
    .filter(([path]) => path.startsWith(below))
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => {
        const parameters = (operation.parameters ?? []).map(resolve);
        return [`${method.toUpperCase()} ${path}`, { ...operation, parameters }] as const;
      }),
    );
}

describe('the methods of a client', () => {
  let sent: { url: URL; request: FetchRequest }[];
  let replies: (Response | Error)[];
  let laurel: Laurel;
  beforeEach(() => {
    sent = [];
    replies = [];
    laurel = new Laurel({
      apiKey: `sk_test_${'a'.repeat(49)}`,
      baseUrl: 'https://api.example.com',
      fetch: async (url, request) => {
        sent.push({ url: new URL(url), request });
        const reply = replies.shift() ?? successOf(request.method, new URL(url).pathname);
        if (reply instanceof Error) throw reply;
        return reply;
      },
    });
  });

  const operations: ReadonlyMap<string, Operation> = new Map([
    ...operationsOf('partner-v1.yaml', '/v1/'),
    ...operationsOf('portal-api.yaml', '/api/sandbox/'),
  ]);
  /** The document's success response; some have no body. */
  const successOf = (method: string, path: string) => {
    const name = `${method} ${path}`;
    const found = [...operations].find(([template]) => template.replace(/\{\w+\}/, ID) === name);
    const headers = { 'x-request-id': 'r-1' };
    return '204' in (found?.[1].responses ?? {})
      ? new Response(null, { status: 204, headers })
      : Response.json({ data: [] }, { headers });
  };

  test('the client has exactly one method for every operation of /v1 and of the sandbox', () => {
    expect(Object.keys(CALLS).toSorted()).toEqual([...operations.keys()].toSorted());
    const methods = Object.entries(laurel).flatMap(([resource, object]) =>
      Object.getOwnPropertyNames(Object.getPrototypeOf(object))
        .filter((name) => name !== 'constructor')
        .map((name) => `${resource}.${name}`),
    );
    expect(methods.toSorted()).toEqual(
      Object.values(CALLS)
        .map(([method]) => method)
        .toSorted(),
    );
  });

  test('the guide names the method for each sandbox call', () => {
    const guide = readFileSync(new URL('../../../docs/contract/partner-api.md', import.meta.url), 'utf8');
    const rows = [...guide.matchAll(/^\|[^|]+\| `(\w+ \/api\/sandbox\/[^`]+)`[^|]*\| `(\w+)`/gm)];
    const nameless = (operation: string) => operation.replace(/\{\w+\}/, '{}');
    const expected = Object.entries(CALLS).filter(([operation]) => operation.includes(' /api/sandbox/'));
    expect(new Map(rows.map(([, operation = '', method]) => [nameless(operation), `sandbox.${method}`]))).toEqual(
      new Map(expected.map(([operation, [method]]) => [nameless(operation), method])),
    );
  });

  test.each(Object.entries(CALLS))(
    '%s is sent with the parameters, the key and the body of the document',
    async (operation, [, call]) => {
      await call(laurel);
      const { parameters = [], requestBody } = operations.get(operation) ?? {};
      const named = (place: string) => parameters.flatMap((it) => (it.in === place ? [it.name] : []));
      const [method, template = ''] = operation.split(' ');
      expect(sent).toHaveLength(1);
      const [{ url, request } = { url: new URL('x:'), request: {} as FetchRequest }] = sent;
      expect(`${request.method} ${url.pathname}`).toBe(`${method} ${template.replace(/\{\w+\}/, ID)}`);
      expect([...url.searchParams.keys()]).toEqual(named('query'));
      expect(request.headers['idempotency-key'] !== undefined).toBe(named('header').includes('Idempotency-Key'));
      expect(request.body !== undefined).toBe(requestBody !== undefined);
    },
  );

  test('the key of an outcome is derived from the attempt unless the caller passes a key', async () => {
    await laurel.attempts.reportOutcome(ID.toUpperCase(), { score: 1 });
    await laurel.attempts.reportOutcome(ID, { score: 1 }, { idempotencyKey: 'mine' });
    expect(sent.map(({ request }) => request.headers['idempotency-key'])).toEqual([`outcome-${ID}`, 'mine']);
    expect(sent.map(({ url }) => url.pathname)).toEqual(Array(2).fill(`/v1/attempts/${ID}/outcome`));
  });

  test('calls that charge or seed reject with a TypeError without a key', async () => {
    const none = undefined as unknown as typeof KEYED;
    const seed = { distribution: SHARES, sample_size: 500 };
    await expect(laurel.attempts.create({ challenge_id: ID, player_ref: 'p' }, none)).rejects.toThrow(TypeError);
    await expect(laurel.challenges.seedDistribution(ID, seed, none)).rejects.toThrow(TypeError);
    await expect(laurel.attempts.reportOutcome(ID, { score: Number.NaN })).rejects.toThrow(TypeError);
    expect(sent).toHaveLength(0);
  });

  /** Each argument of each method, replaced by a wrong one. */
  const withArgument: readonly (readonly [argument: string, call: (wrong: never) => Promise<unknown>])[] = [
    ['challenges.list player_ref', (wrong) => laurel.challenges.list({ player_ref: wrong })],
    ['challenges.seedDistribution challengeId', (wrong) => laurel.challenges.seedDistribution(wrong, SEED, KEYED)],
    ['players.link player_ref', (wrong) => laurel.players.link({ player_ref: wrong, email: 'p@example.com' })],
    ['attempts.create player_ref', (wrong) => laurel.attempts.create({ challenge_id: ID, player_ref: wrong }, KEYED)],
    [
      'attempts.create idempotencyKey',
      (wrong) => laurel.attempts.create({ challenge_id: ID, player_ref: 'p' }, { idempotencyKey: wrong }),
    ],
    ['attempts.reportOutcome attemptId', (wrong) => laurel.attempts.reportOutcome(wrong, { score: 1 })],
    [
      'attempts.reportOutcome idempotencyKey',
      (wrong) => laurel.attempts.reportOutcome(ID, { score: 1 }, { idempotencyKey: wrong }),
    ],
    ['attempts.retrieve attemptId', (wrong) => laurel.attempts.retrieve(wrong)],
    ['tournaments.list status', (wrong) => laurel.tournaments.list({ status: wrong })],
    ['rounds.leaderboard roundId', (wrong) => laurel.rounds.leaderboard(wrong)],
    ['rounds.leaderboard player_ref', (wrong) => laurel.rounds.leaderboard(ID, { player_ref: wrong })],
    ['integrations.update integrationId', (wrong) => laurel.integrations.update(wrong, {})],
    ['integrations.rotateSecret integrationId', (wrong) => laurel.integrations.rotateSecret(wrong)],
    ['integrations.retirePreviousSecret integrationId', (wrong) => laurel.integrations.retirePreviousSecret(wrong)],
    ['sandbox.createPlayer player_ref', (wrong) => laurel.sandbox.createPlayer({ player_ref: wrong })],
    ['sandbox.holdNextAward playerRef', (wrong) => laurel.sandbox.holdNextAward(wrong)],
    ['sandbox.expireAttempt attemptId', (wrong) => laurel.sandbox.expireAttempt(wrong)],
    ['sandbox.closeEntries roundId', (wrong) => laurel.sandbox.closeEntries(wrong)],
    ['sandbox.closeRound roundId', (wrong) => laurel.sandbox.closeRound(wrong)],
    ['sandbox.retryDelivery deliveryId', (wrong) => laurel.sandbox.retryDelivery(wrong)],
    ['sandbox.listEvents after', (wrong) => laurel.sandbox.listEvents({ after: wrong })],
  ];

  test.each(withArgument)('%s that is not well-formed text is a TypeError', async (_, call) => {
    for (const wrong of [null, 5, true, {}, [], ['p'], Object('p'), '\ud800', 'a\udfff']) {
      await expect(call(wrong as never)).rejects.toThrow(TypeError);
    }
    expect(sent).toHaveLength(0);
  });

  test('every method rejects invalid options before it sends a request', async () => {
    for (const wrong of [null, 'key-1', 5, [], { ...KEYED, signal: 'now' }, { ...KEYED, signal: null }] as never[]) {
      for (const call of [
        laurel.attempts.create({ challenge_id: ID, player_ref: 'p' }, wrong),
        laurel.attempts.reportOutcome(ID, { score: 1 }, wrong),
        laurel.tournaments.list({}, wrong),
        laurel.integrations.list(wrong),
        laurel.sandbox.closeRound(ID, wrong),
      ]) {
        await expect(call).rejects.toThrow(TypeError);
      }
    }
    expect(sent).toHaveLength(0);
  });

  test('a player_ref of 255 emoji is sent unchanged', async () => {
    const player_ref = '😀'.repeat(255);
    await laurel.challenges.list({ player_ref });
    await laurel.attempts.create({ challenge_id: ID, player_ref }, KEYED);
    expect(sent[0]?.url.searchParams.get('player_ref')).toBe(player_ref);
    expect(JSON.parse(sent[1]?.request.body ?? '')).toMatchObject({ player_ref });
  });

  test('a body that the caller changes after the call is sent unchanged', async () => {
    const body = { score: 1 };
    replies.push(new Error('reset'));
    const call = laurel.attempts.reportOutcome(ID, body);
    body.score = 2;
    await call;
    expect(sent.map(({ request }) => request.body)).toEqual(['{"score":1}', '{"score":1}']);
  });

  test('sandbox calls with a live key reject with a TypeError', async () => {
    const live = new Laurel({
      apiKey: `sk_live_${'a'.repeat(49)}`,
      baseUrl: 'https://api.example.com',
      fetch: async () => Promise.reject(new Error('sent')),
    });
    const calls = Object.values(CALLS).filter(([method]) => method.startsWith('sandbox.'));
    expect(calls).toHaveLength(7);
    for (const [, call] of calls) await expect(call(live)).rejects.toThrow(TypeError);
  });

  describe('after a lost response', () => {
    beforeEach(() => void vi.useFakeTimers());
    afterEach(() => void vi.useRealTimers());

    const methods = new Map(Object.values(CALLS));
    const repeated = [...methods.keys()].filter((method) => !SENT_ONCE.includes(method));

    test.each(repeated)('%s is sent again after a lost response, with the same bytes', async (method) => {
      replies.push(new Error('reset'));
      const call = methods.get(method)?.(laurel);
      await vi.advanceTimersByTimeAsync(LONGEST_FIRST_DELAY_MS);
      await call;
      expect(sent).toHaveLength(2);
      const [first, second] = sent.map(({ url, request: { signal: _, ...request } }) => ({
        url: url.href,
        ...request,
      }));
      expect(second).toEqual(first);
    });

    test.each(SENT_ONCE)('%s, which is not idempotent, is not sent again after a lost response', async (method) => {
      replies.push(new Error('reset'));
      const end = methods
        .get(method)?.(laurel)
        .catch((error: unknown) => error);
      await vi.advanceTimersByTimeAsync(LONGEST_FIRST_DELAY_MS);
      expect(sent).toHaveLength(1);
      expect(await end).toMatchObject({ code: 'network' });
    });
  });

  test('a call without a response body succeeds only with a 204', async () => {
    replies.push(Response.json({}), new Response(null, { status: 204 }));
    const { data, tries } = await laurel.sandbox.holdNextAward('p').withResponse();
    expect({ data, tries }).toEqual({ data: undefined, tries: 2 });
  });

  test('the rate limits of the sandbox and of /v1 are separate', async () => {
    const limited = () => Response.json({ retry_after: 3_600 }, { status: 429, headers: { 'retry-after': '3600' } });
    replies.push(limited());
    await expect(laurel.sandbox.listEvents()).rejects.toMatchObject({ code: 'rate_limited' });
    expect(await laurel.tournaments.list()).toEqual({ data: [] });
    replies.push(limited());
    await expect(laurel.tournaments.list()).rejects.toMatchObject({ code: 'rate_limited' });
    await expect(laurel.sandbox.listEvents()).rejects.toMatchObject({ code: 'rate_limited' });
    expect(sent).toHaveLength(3);
  });

  test('withResponse returns the body and the metadata of a response', async () => {
    const call = laurel.tournaments.list();
    expect(call).toBeInstanceOf(Promise);
    expect(await call.withResponse()).toEqual({
      data: { data: [] },
      requestId: 'r-1',
      replayed: false,
      rateLimit: undefined,
      tries: 1,
    });
    expect(await call).toEqual({ data: [] });
    expect(await Promise.all([call, call.finally(() => {})])).toEqual([{ data: [] }, { data: [] }]);
    expect(sent).toHaveLength(1);
  });

  test('a failure can be caught on withResponse alone', async () => {
    const refuse = () =>
      replies.push(Response.json({ error: { code: 'not_found', message: 'There is none.' } }, { status: 404 }));
    refuse();
    expect(await laurel.attempts.retrieve(ID).catch((error: LaurelError) => error.code)).toBe('not_found');
    refuse();
    await expect(laurel.attempts.retrieve(ID).withResponse()).rejects.toBeInstanceOf(LaurelError);
  });
});
