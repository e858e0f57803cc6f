/**
 * The Idempotency-Key of /v1 over two gateways on one database. The contest service is scripted:
 * the tests check what it is asked, and how often.
 */
import { randomUUID } from 'node:crypto';
import { refused } from '@laurel/errors';
import { type AttemptCreationResult, AttemptServiceService, AttemptStatus } from '@laurel/proto/attempts';
import { createTestClock, createTestDatabase } from '@laurel/testing';
import { newOwnedId, receiptIdOf } from '@laurel/values/ids';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type ScriptedService, startScriptedService } from '../../clients/scripted-service.fixture.ts';
import { OPERATOR_TOKEN, startTestGateway } from '../../gateway.fixture.ts';

const TAKEOVER_MS = 60_000;
const CHALLENGE_ID = newOwnedId('challenge');
const ENTRY = { challenge_id: CHALLENGE_ID, player_ref: 'p' };
const REPLAYED = 'idempotency-replayed';
const INVALID = [400, 'invalid_request'];
const REUSED = [409, 'idempotency_key_reused'];
const IN_PROGRESS = [409, 'idempotency_in_progress'];
const FAILED = [500, 'internal_error'];

const stack = new AsyncDisposableStack();
const clock = createTestClock();
let owner: ScriptedService<typeof AttemptServiceService>;
let ports: number[];
let apiKey: string;
/** The operations requested from the contest service, in order. */
let operations: string[] = [];
/** Decides the result of the next operations. By default every operation succeeds. */
let decide: () => Promise<Exclude<AttemptCreationResult['result'], { $case: 'attempt' }>>;

beforeAll(async () => {
  owner = stack.use(await startScriptedService(AttemptServiceService));
  owner.script = {
    createAttempts: async ({ creations }) => ({
      results: await Promise.all(
        creations.map(async ({ attemptId, playerRef, contestId, metadataJson }) => {
          operations.push(attemptId);
          const other = await decide();
          if (other !== undefined) return { result: other };
          const attempt = { id: attemptId, contestId, playerRef, metadataJson, outcome: undefined };
          const value = { ...attempt, status: AttemptStatus.OPEN, feeCents: 100n, createdAt: clock() };
          return { result: { $case: 'attempt' as const, value } };
        }),
      ),
    }),
    reportOutcomes: async ({ reports }) => ({
      results: reports.map(({ operationId, attemptId, score }) => {
        operations.push(operationId);
        const decided = { metThreshold: false, thresholdApplied: 100, recordedAt: clock(), award: undefined };
        const value = { attemptId, score, ...decided, receiptId: receiptIdOf(operationId) };
        return { result: { $case: 'outcome' as const, value }, repeated: false };
      }),
    }),
  };
  const { runningUrl } = stack.use(
    await createTestDatabase({ migrations: new URL('../../../migrations/', import.meta.url) }),
  );
  const settings = {
    GATEWAY_DATABASE_URL: runningUrl,
    CHALLENGE_ADDRESS: owner.address,
    RATE_LIMIT_PER_MINUTE: '100000',
  };
  const start = async () => stack.use(await startTestGateway(settings, { clock })).port;
  ports = [await start(), await start()];
  const headers = { authorization: `Bearer ${OPERATOR_TOKEN}`, 'content-type': 'application/json' };
  const url = `http://127.0.0.1:${ports[0]}/api/operator/programs`;
  const made = await fetch(url, { method: 'POST', headers, body: '{"name":"Arcade"}' });
  apiKey = ((await made.json()) as { test_key: string }).test_key;
}, 60_000);
afterAll(() => stack.disposeAsync());
beforeEach(() => {
  operations = [];
  decide = async () => undefined;
});

async function send(path: string, body: unknown, key: string | null, gateway = 0) {
  const response = await fetch(`http://127.0.0.1:${ports[gateway]}/v1${path}`, {
    method: 'POST',
    headers: {
      'x-api-key': apiKey,
      'content-type': 'application/json',
      ...(key !== null && { 'idempotency-key': key }),
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const text = await response.text();
  const { status, headers } = response;
  return { status, headers, text, code: JSON.parse(text).error?.code as string | undefined };
}
type Answer = Awaited<ReturnType<typeof send>>;
const create = (body: unknown, key: string | null, gateway = 0) => send('/attempts', body, key, gateway);
const report = (id: string, body: unknown, key: string | null, gateway = 0) =>
  send(`/attempts/${id}/outcome`, body, key, gateway);
const codeOf = ({ status, code }: Answer) => [status, code];

function expectReplay(replay: Answer, original: Answer): void {
  expect([replay.status, replay.text]).toEqual([original.status, original.text]);
  expect([replay.headers.get(REPLAYED), original.headers.get(REPLAYED)]).toEqual(['true', null]);
}

test.each([
  ['missing', null],
  ['empty', ''],
  ['256 characters long', 'k'.repeat(256)],
])('an Idempotency-Key that is %s is 400 and reaches no contest service', async (_what, key) => {
  expect(codeOf(await create(ENTRY, key))).toEqual(INVALID);
  expect(codeOf(await report(newOwnedId('challenge'), { score: 1 }, key))).toEqual(INVALID);
  expect(operations).toEqual([]);
});

test('an Idempotency-Key of 255 characters is accepted', async () => {
  expect((await create(ENTRY, randomUUID().padEnd(255, 'k'))).status).toBe(201);
});

describe('an Idempotency-Key that is used again', () => {
  test('a repeated Idempotency-Key gets the same response from both gateways, byte for byte', async () => {
    const [key, id] = [randomUUID(), newOwnedId('challenge')];
    const body = { ...ENTRY, metadata: { b: 1, a: [1, { d: 1, c: 2 }] } };
    const made = await create(body, key);
    const outcome = { score: 100, evidence: { b: 1, a: 2 } };
    // The same key on another endpoint is another key.
    const reported = await report(id, outcome, key);
    expect([made.status, reported.status]).toEqual([201, 200]);
    for (const gateway of [0, 1, 0]) {
      expectReplay(await create(body, key, gateway), made);
      expectReplay(await report(id, outcome, key, gateway), reported);
    }
    expect(operations).toHaveLength(2);
  });

  test('a body that differs only in order, white space or notation is the same request', async () => {
    const key = randomUUID();
    const { challenge_id: id } = ENTRY;
    const first = await create(
      `{"challenge_id":"${id}","player_ref":"p","metadata":{"a":1,"b":[1.0,100],"ü":"x"}}`,
      key,
    );
    const again = ` { "metadata" : {"\\u00fc":"\\u0078", "b":[1,1e2], "a":1.0e0}, "player_ref":"p",\n"challenge_id":"${id}" }`;
    expectReplay(await create(again, key), first);
    const seeded = (seed: string) => `{"challenge_id":"${id}","player_ref":"p","metadata":{"seed":${seed}}}`;
    const other = randomUUID();
    const ofSeed = await create(seeded('12345678901234567891'), other);
    expectReplay(await create(seeded('1.2345678901234567891E+19'), other), ofSeed);
    expect(codeOf(await create(seeded('12345678901234567892'), other))).toEqual(REUSED);
  });

  test.each<[string, object | string]>([
    ['another player', { ...ENTRY, player_ref: 'other' }],
    ['another challenge', { ...ENTRY, challenge_id: newOwnedId('challenge') }],
    ['a round', { tournament_round_id: newOwnedId('tournament'), player_ref: 'p' }],
    ['more metadata', { ...ENTRY, metadata: { a: 1 } }],
    ['another order in an array', { ...ENTRY, metadata: { list: [2, 1] } }],
    [
      'a number that only a double would take for the same',
      `{"challenge_id":"${CHALLENGE_ID}","player_ref":"p","metadata":{"list":[1,2.0000000000000000001]}}`,
    ],
    ['an unknown field', { ...ENTRY, metadata: { list: [1, 2] }, extra: 1 }],
  ])('an Idempotency-Key with another body (%s) is 409', async (_what, other) => {
    const key = randomUUID();
    const body = { ...ENTRY, metadata: { list: [1, 2] } };
    const first = await create(body, key);
    expect(codeOf(await create(other, key))).toEqual(REUSED);
    expectReplay(await create(body, key), first);
    expect(operations).toHaveLength(1);
  });

  test('an Idempotency-Key with another score or for another attempt is 409', async () => {
    const [key, one, other] = [randomUUID(), newOwnedId('challenge'), newOwnedId('challenge')];
    expect((await report(one, { score: 1 }, key)).status).toBe(200);
    expect(codeOf(await report(one, { score: 2 }, key))).toEqual(REUSED);
    expect(codeOf(await report(other, { score: 1 }, key))).toEqual(REUSED);
    expect(operations).toHaveLength(1);
  });

  test('an Idempotency-Key is compared as an exact string', async () => {
    const key = `Key-${randomUUID()}`;
    const [first, second] = [await create(ENTRY, key), await create(ENTRY, key.toLowerCase())];
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(new Set(operations).size).toBe(2);
  });
});

describe('an Idempotency-Key in flight', () => {
  /** Holds the next operation until it is released. */
  function hold() {
    const [asked, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    decide = async () => {
      asked.resolve();
      await released.promise;
      return undefined;
    };
    return { asked: asked.promise, release: released.resolve };
  }

  test('an Idempotency-Key in flight is 409 with Retry-After on both gateways', async () => {
    const [key, held] = [randomUUID(), hold()];
    const original = create(ENTRY, key);
    await held.asked;
    for (const gateway of [0, 1]) {
      const meanwhile = await create(ENTRY, key, gateway);
      expect(codeOf(meanwhile)).toEqual(IN_PROGRESS);
      expect(Number(meanwhile.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
      expect(codeOf(await create({ ...ENTRY, metadata: { other: true } }, key, gateway))).toEqual(REUSED);
    }
    held.release();
    expect((await original).status).toBe(201);
    expectReplay(await create(ENTRY, key), await original);
    expect(operations).toHaveLength(1);
  });

  test('a retry after the process died runs the same operation, once the takeover is due', async () => {
    const [key, held] = [randomUUID(), hold()];
    const gone = create(ENTRY, key);
    await held.asked;
    clock.advance(TAKEOVER_MS - 1);
    expect(codeOf(await create(ENTRY, key, 1))).toEqual(IN_PROGRESS);
    expect(codeOf(await create({ ...ENTRY, metadata: {} }, key, 1))).toEqual(REUSED);
    clock.advance(1);
    decide = async () => undefined;
    const taken = await create(ENTRY, key, 1);
    expect([taken.status, JSON.parse(taken.text).id]).toEqual([201, operations[0]]);
    expect(operations).toEqual([operations[0], operations[0]]);
    held.release();
    await gone;
  });

  test.each([
    ['200 creates', 200, 201, (key: string, gateway: number) => create(ENTRY, key, gateway)],
    ['100 outcomes', 100, 200, (key: string, gateway: number) => report(CHALLENGE_ID, { score: 1 }, key, gateway)],
  ])('an Idempotency-Key of %s in parallel on both gateways runs once', async (_what, count, status, request) => {
    const key = randomUUID();
    const answers = await Promise.all(Array.from({ length: count }, (_, index) => request(key, index % 2)));
    const done = answers.filter((answer) => answer.status === status);
    for (const answer of answers) if (answer.status !== status) expect(codeOf(answer)).toEqual(IN_PROGRESS);
    expect(new Set(done.map(({ text }) => text)).size).toBe(1);
    expect(done.filter(({ headers }) => !headers.has(REPLAYED))).toHaveLength(1);
    expect(operations).toHaveLength(1);
    expect((await request(key, 0)).text).toBe(done[0]?.text);
  });
});

describe('an Idempotency-Key after a failure', () => {
  test.each([
    ['insufficient_funds', 402],
    ['blocked', 403],
    ['not_found', 404],
    ['challenge_not_available', 409],
  ] as const)('an Idempotency-Key is unused after %s, %i, for the same body and for another', async (code, status) => {
    for (const next of [ENTRY, { ...ENTRY, player_ref: 'other' }]) {
      const key = randomUUID();
      operations = [];
      decide = async () => ({ $case: 'refused', value: refused(code) });
      expect(codeOf(await create(ENTRY, key))).toEqual([status, code]);
      decide = async () => undefined;
      const made = await create(next, key);
      expect([made.status, made.headers.has(REPLAYED)]).toEqual([201, false]);
      expect(new Set(operations).size).toBe(2);
    }
  });

  test('an Idempotency-Key is unused after a 400', async () => {
    const key = randomUUID();
    expect(codeOf(await create({ ...ENTRY, player_ref: '' }, key))).toEqual(INVALID);
    expect((await create(ENTRY, key)).status).toBe(201);
  });

  test('a retry after a 500 runs the same operation', async () => {
    const key = randomUUID();
    const message = 'Error: insert into attempts failed at settle.ts';
    decide = async () => ({ $case: 'failure', value: { message } });
    const failed = await create(ENTRY, key);
    expect(codeOf(failed)).toEqual(FAILED);
    expect(failed.text).not.toMatch(/failpoint|Error:|at .*\.ts|select|insert/i);
    decide = async () => undefined;
    expect((await create(ENTRY, key, 1)).status).toBe(201);
    expect(operations).toEqual([operations[0], operations[0]]);
  });

  test('another body under the Idempotency-Key after a 500 is another operation', async () => {
    const key = randomUUID();
    decide = async () => ({ $case: 'failure', value: { message: 'down' } });
    expect(codeOf(await create(ENTRY, key))).toEqual(FAILED);
    decide = async () => undefined;
    const other = await create({ ...ENTRY, metadata: { other: true } }, key);
    expect([other.status, JSON.parse(other.text).metadata]).toEqual([201, { other: true }]);
    expect(new Set(operations).size).toBe(2);
    expect(codeOf(await create(ENTRY, key))).toEqual(REUSED);
  });
});
