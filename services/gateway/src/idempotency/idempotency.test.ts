import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { IDEMPOTENCY_USE_RETENTION_MS } from '@laurel/attempts/domain';
import { parseStrictJson } from '@laurel/json';
import { createDatabase, type Database } from '@laurel/postgres';
import { createLogger } from '@laurel/service';
import { createTestDatabase } from '@laurel/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { completeRecords, type IdempotencyLock } from '../repository/idempotency-records.ts';
import { createIdempotencyRecordCleanup } from '../workers/delete-old-records.ts';
import { createIdempotency, type Idempotency } from './idempotency.ts';
import { fingerprintOf, recordIdOf } from './idempotency-use.ts';
import type { IdempotencyLockVerdict } from './lock-records.ts';

const TAKEOVER_MS = 60_000;
const logger = createLogger({ service: 'gateway', level: 'silent' });
const stack = new AsyncDisposableStack();
let database: Database;
let idempotency: Idempotency;
/** Another gateway on the same database. */
let replica: Idempotency;
let now: Date;
const advance = (ms: number) => {
  now = new Date(now.getTime() + ms);
};

beforeAll(async () => {
  const { runningUrl: url } = stack.use(
    await createTestDatabase({ migrations: new URL('../../migrations/', import.meta.url) }),
  );
  const open = () => {
    const own = stack.use(createDatabase({ url, maxConnections: 4, applicationName: 'test' }));
    return {
      own,
      idempotency: stack.use(
        createIdempotency({
          database: own,
          clock: () => now,
          logger,
          takeoverMs: TAKEOVER_MS,
        }),
      ),
    };
  };
  ({ own: database, idempotency } = open());
  ({ idempotency: replica } = open());
});
afterAll(() => stack.disposeAsync());
beforeEach(() => {
  now = new Date('2026-11-21T12:00:00.000Z');
});

const SAME = fingerprintOf({}, { score: 1 });
const OTHER = fingerprintOf({}, { score: 2 });
const use = (recordId: string, fingerprint = SAME) => ({ recordId, operationId: randomUUID(), fingerprint });

function lockIn(verdict: IdempotencyLockVerdict): IdempotencyLock {
  if (verdict.kind !== 'locked') throw new Error(`expected an idempotency lock, got ${verdict.kind}`);
  return verdict.idempotencyLock;
}

const complete = (idempotencyLock: IdempotencyLock, status: number, body: string, gateway = idempotency) =>
  gateway.complete({ idempotencyLock, fingerprint: SAME, status, body });

/** Writes a gateway's completions: until this has run, only that gateway may know them. */
const writeCompletions = async (gateway = idempotency) => {
  await gateway.carryCompletions((completions) => completeRecords(database, completions));
  await nextTurn();
};

const lockFirst = async (recordId: string) => lockIn(await idempotency.lock(use(recordId)));

describe('idempotency situations of the contract', () => {
  test('the first use of an idempotency key runs the operation under the id of that use', async () => {
    const first = use(randomUUID());
    expect(await idempotency.lock(first)).toEqual({
      kind: 'locked',
      idempotencyLock: { recordId: first.recordId, operationId: first.operationId, generation: 0 },
    });
  });

  test('the same idempotency key with the same body gets the stored response, byte for byte, on every replica', async () => {
    const recordId = randomUUID();
    const body = '{"quote":"\\"é\\u0000{,}\\\\ NULL","metadata":{"a": 1.0}}';
    await complete(await lockFirst(recordId), 201, body);
    expect(await idempotency.lock(use(recordId))).toEqual({ kind: 'replay', status: 201, body });
    expect(await replica.lock(use(recordId))).toEqual({ kind: 'replay', status: 201, body });
  });

  test('the same idempotency key with another body is refused as a reuse', async () => {
    const recordId = randomUUID();
    const idempotencyLock = await lockFirst(recordId);
    expect(await idempotency.lock(use(recordId, OTHER))).toEqual({ kind: 'reused' });
    await complete(idempotencyLock, 200, '{}');
    expect(await idempotency.lock(use(recordId, OTHER))).toEqual({ kind: 'reused' });
    await writeCompletions();
    expect(await idempotency.lock(use(recordId, OTHER))).toEqual({ kind: 'reused' });
  });

  test('the same idempotency key is refused as in progress while the first request is in flight', async () => {
    const recordId = randomUUID();
    await lockFirst(recordId);
    advance(TAKEOVER_MS - 1);
    expect(await replica.lock(use(recordId))).toEqual({ kind: 'in_progress' });
  });

  test('a retry takes over the operation of a first request whose process has died', async () => {
    const recordId = randomUUID();
    const dead = await lockFirst(recordId);
    advance(TAKEOVER_MS);
    expect(lockIn(await replica.lock(use(recordId)))).toEqual({ ...dead, generation: 1 });
  });
});

describe('completions that are not written yet', () => {
  test('an answer that is not written yet is replayed from the cache of its process', async () => {
    const recordId = randomUUID();
    await complete(await lockFirst(recordId), 201, '{"n":1}');
    expect(await idempotency.lock(use(recordId))).toEqual({ kind: 'replay', status: 201, body: '{"n":1}' });
    expect(await idempotency.lock(use(recordId, OTHER))).toEqual({ kind: 'reused' });
  });

  test('a second look finds a response that another replica had not written at the first look', async () => {
    const recordId = randomUUID();
    const idempotencyLock = await lockFirst(recordId);
    const looking = replica.lock(use(recordId));
    await complete(idempotencyLock, 201, '{"n":2}');
    expect(await looking).toEqual({ kind: 'replay', status: 201, body: '{"n":2}' });
  });

  test('an answer is written separately if the statement that carried it failed', async () => {
    const recordId = randomUUID();
    await complete(await lockFirst(recordId), 201, '{"n":3}');
    const carried: string[] = [];
    const failing = idempotency.carryCompletions(async (completions) => {
      carried.push(...completions.map((completion) => completion.body));
      throw new Error('no connection');
    });
    await expect(failing).rejects.toThrow('no connection');
    expect(carried).toContain('{"n":3}');
    expect(await replica.lock(use(recordId))).toEqual({ kind: 'replay', status: 201, body: '{"n":3}' });
  });

  test('an answer is written before its gateway has shut down', async () => {
    const closing = createIdempotency({ database, clock: () => now, logger, takeoverMs: 60_000 });
    const recordId = randomUUID();
    await complete(lockIn(await closing.lock(use(recordId))), 201, '{"n":4}', closing);
    await closing[Symbol.asyncDispose]();
    const [row] = await database.query({ text: 'select state from idempotency_records where id = $1' }, [recordId]);
    expect(row).toEqual({ state: 'completed' });
  });
});

describe('the end of an idempotency lock', () => {
  test('a refusal makes the idempotency key unused again', async () => {
    const recordId = randomUUID();
    await idempotency.forget(await lockFirst(recordId));
    const next = use(recordId, OTHER);
    expect(lockIn(await idempotency.lock(next)).operationId).toBe(next.operationId);
  });

  test('after a failure of the gateway the same request resumes the operation', async () => {
    const recordId = randomUUID();
    const failed = await lockFirst(recordId);
    await idempotency.release(failed);
    expect(lockIn(await idempotency.lock(use(recordId)))).toEqual({ ...failed, generation: 1 });
  });

  test('another request after a failure of the gateway is another operation', async () => {
    const recordId = randomUUID();
    await idempotency.release(await lockFirst(recordId));
    const next = use(recordId, OTHER);
    expect(lockIn(await idempotency.lock(next)).operationId).toBe(next.operationId);
    expect(await idempotency.lock(use(recordId))).toEqual({ kind: 'reused' });
  });

  test.each<[string, (idempotencyLock: IdempotencyLock) => Promise<void>]>([
    ['complete', (idempotencyLock) => complete(idempotencyLock, 200, '{"from":"the dead"}')],
    ['forget', (idempotencyLock) => idempotency.forget(idempotencyLock)],
    ['release', (idempotencyLock) => idempotency.release(idempotencyLock)],
  ])('an idempotency lock that was taken over can no longer %s', async (_what, end) => {
    const recordId = randomUUID();
    const slow = await lockFirst(recordId);
    advance(TAKEOVER_MS);
    const taker = lockIn(await replica.lock(use(recordId)));
    await end(slow);
    await writeCompletions();
    expect(await idempotency.lock(use(recordId))).toEqual({ kind: 'in_progress' });
    await complete(taker, 200, '{"from":"the taker"}', replica);
    await writeCompletions(replica);
    expect(await idempotency.lock(use(recordId))).toMatchObject({ kind: 'replay', body: '{"from":"the taker"}' });
  });

  test('a late completion does not affect a later operation under the same key', async () => {
    const recordId = randomUUID();
    const slow = await lockFirst(recordId);
    advance(TAKEOVER_MS);
    await replica.forget(lockIn(await replica.lock(use(recordId))));
    const fresh = lockIn(await replica.lock(use(recordId)));
    expect(fresh.generation).toBe(slow.generation);
    await complete(slow, 200, '{"from":"the slow"}');
    await writeCompletions();
    expect(await idempotency.lock(use(recordId))).toEqual({ kind: 'in_progress' });
  });

  test('a late failure does not overwrite a completed answer', async () => {
    const recordId = randomUUID();
    const idempotencyLock = await lockFirst(recordId);
    await complete(idempotencyLock, 200, '{}');
    await writeCompletions();
    await idempotency.release(idempotencyLock);
    await idempotency.forget(idempotencyLock);
    expect((await idempotency.lock(use(recordId))).kind).toBe('replay');
  });
});

describe('concurrent uses of idempotency keys', () => {
  test('only one of 200 parallel uses of an idempotency key runs', async () => {
    const recordId = randomUUID();
    const verdicts = await Promise.all(
      Array.from({ length: 200 }, (_, index) => (index % 2 === 0 ? idempotency : replica).lock(use(recordId))),
    );
    expect(verdicts.filter((verdict) => verdict.kind === 'locked')).toHaveLength(1);
    expect(verdicts.filter((verdict) => verdict.kind === 'in_progress')).toHaveLength(199);
  });

  test('only one of 200 parallel takeovers of a dead idempotency lock resumes the operation', async () => {
    const recordId = randomUUID();
    const dead = await lockFirst(recordId);
    advance(TAKEOVER_MS);
    const verdicts = await Promise.all(
      Array.from({ length: 200 }, (_, index) => (index % 2 === 0 ? idempotency : replica).lock(use(recordId))),
    );
    const idempotencyLocks = verdicts.flatMap((verdict) =>
      verdict.kind === 'locked' ? [verdict.idempotencyLock] : [],
    );
    expect(idempotencyLocks).toEqual([{ ...dead, generation: 1 }]);
    expect(verdicts.filter((verdict) => verdict.kind === 'in_progress')).toHaveLength(199);
  });

  test('many idempotency keys in any order on two replicas never deadlock', async () => {
    const recordIds = Array.from({ length: 120 }, () => randomUUID());
    const [ours, theirs] = await Promise.all([
      Promise.all(recordIds.map((recordId) => idempotency.lock(use(recordId)))),
      Promise.all([...recordIds].reverse().map((recordId) => replica.lock(use(recordId)))),
    ]);
    recordIds.forEach((recordId, index) => {
      const both = [ours[index], theirs[recordIds.length - 1 - index]];
      const idempotencyLocks = both.flatMap((verdict) => (verdict?.kind === 'locked' ? [verdict.idempotencyLock] : []));
      expect(idempotencyLocks).toMatchObject([{ recordId }]);
    });
  });

  test('parallel uses and refusals of one idempotency key never run two operations at once', async () => {
    const recordId = randomUUID();
    let running = 0;
    let ran = 0;
    await Promise.all(
      Array.from({ length: 100 }, async (_, index) => {
        const gateway = index % 2 === 0 ? idempotency : replica;
        const verdict = await gateway.lock(use(recordId));
        if (verdict.kind !== 'locked') return;
        running += 1;
        ran += 1;
        expect(running).toBe(1);
        running -= 1;
        await gateway.forget(verdict.idempotencyLock);
      }),
    );
    expect(ran).toBeGreaterThanOrEqual(1);
  });
});

describe('retention of idempotency records', () => {
  test('an idempotency key is unused again after 24 hours', async () => {
    const recordId = randomUUID();
    await complete(await lockFirst(recordId), 200, '{}');
    await writeCompletions();
    advance(IDEMPOTENCY_USE_RETENTION_MS - 1);
    expect((await idempotency.lock(use(recordId))).kind).toBe('replay');
    advance(1);
    const next = use(recordId);
    expect(lockIn(await idempotency.lock(next)).operationId).toBe(next.operationId);
  });

  test('the worker deletes only idempotency records past their retention', async () => {
    await database.query({ text: 'delete from idempotency_records' });
    await Promise.all(Array.from({ length: 30 }, () => lockFirst(randomUUID())));
    advance(1);
    const young = randomUUID();
    await lockFirst(young);
    advance(IDEMPOTENCY_USE_RETENTION_MS);
    expect(await createIdempotencyRecordCleanup(database)(now)).toBe(30);
    const left = await database.query<{ id: string }>({ text: 'select id from idempotency_records' });
    expect(left).toEqual([{ id: young }]);
  });
});

describe('fingerprints', () => {
  test('an idempotency key is bound to the path and to every value, whatever the order of members', () => {
    expect(fingerprintOf({}, { a: 1, b: [1.5] })).toBe(fingerprintOf({}, { b: [1.5], a: 1 }));
    expect(fingerprintOf({ attempt_id: 'x' }, {})).not.toBe(fingerprintOf({ attempt_id: 'y' }, {}));
    expect(fingerprintOf({}, { a: 1 })).not.toBe(fingerprintOf({}, { a: '1' }));
  });

  const bound = (body: string, params: Record<string, string> = {}) => {
    const json = parseStrictJson(Buffer.from(body));
    return json.kind === 'parsed' ? fingerprintOf(params, json.exact) : expect.fail(json.message);
  };

  test('an idempotency key is bound to the exact value of a number, however it is written', () => {
    const seed = bound('{"evidence":{"seed":12345678901234567891}}');
    for (const spelling of ['12345678901234567891.0', '1.2345678901234567891e19', '123456789012345678910E-1']) {
      expect(bound(`{"evidence":{"seed":${spelling}}}`)).toBe(seed);
    }
    for (const other of [
      '12345678901234567892',
      '12345678901234567000',
      '12345678901234567891.5',
      '"12345678901234567891e0"',
    ]) {
      expect(bound(`{"evidence":{"seed":${other}}}`)).not.toBe(seed);
    }
    expect(new Set(['1', '1.0', '1e0', '10e-1'].map((score) => bound(`{"score":${score}}`))).size).toBe(1);
    expect(bound('{"score":1e-400}')).not.toBe(bound('{"score":0}'));
  });

  // An earlier release, which read numbers only as doubles, made these hashes. This release replays
  // that release's records for a day.
  test('bodies whose numbers are doubles keep the fingerprints of earlier releases', () => {
    expect(
      bound(
        '{"player_ref":"ünï","challenge_id":"01a1fda2-cf3f-73c9-8ad5-9cf07a8ae5d3","metadata":{"b":[1.0,1e2,-0],"a":null}}',
      ),
    ).toBe('4307c3eeffc29d46b78af1b35035e0520afd4013ef810ab8d1a9b4e803895e91');
    expect(
      bound(
        '{"score":1.50e2,"tiebreak":0.30000000000000004,"evidence":{"z":1e21,"y":5e-324,"x":"12345678901234567891","\\u20ac":true}}',
        { attempt_id: '01a1fda3-5031-8190-ad21-6bfd27e1bae3' },
      ),
    ).toBe('b7f0a701da1c6de2def778e777337d4292fa5a2ffd59957708c8dfaa21408eda');
  });

  test('each tenant, environment, endpoint and key has a separate record', () => {
    const tenant = { programId: 'p', environment: 'test' };
    const ids = [
      recordIdOf(tenant, 'post /attempts', 'k'),
      recordIdOf({ ...tenant, programId: 'q' }, 'post /attempts', 'k'),
      recordIdOf({ ...tenant, environment: 'live' }, 'post /attempts', 'k'),
      recordIdOf(tenant, 'post /attempts/{attempt_id}/outcome', 'k'),
      recordIdOf(tenant, 'post /attempts', 'l'),
      recordIdOf(tenant, 'post /attempts', 'K'),
    ];
    expect(new Set(ids).size).toBe(ids.length);
  });
});
