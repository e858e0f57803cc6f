import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createDatabase, type Database } from '@laurel/postgres';
import { createLogger } from '@laurel/service';
import { createTestDatabase } from '@laurel/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Claim, completeRecords } from '../repository/idempotency-records.ts';
import { createDeleteOldRecords } from '../workers/delete-old-records.ts';
import type { ClaimVerdict } from './claim-records.ts';
import { createIdempotency, type Idempotency } from './idempotency.ts';
import { fingerprintOf, recordIdOf } from './key-use.ts';

const TAKEOVER_MS = 60_000;
const RETENTION_MS = 24 * 3_600_000;
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
  const { url } = stack.use(await createTestDatabase({ migrations: new URL('../../migrations/', import.meta.url) }));
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
          retentionMs: RETENTION_MS,
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

function claimIn(verdict: ClaimVerdict): Claim {
  if (verdict.kind !== 'claimed') throw new Error(`expected a claim, got ${verdict.kind}`);
  return verdict.claim;
}

const complete = (claim: Claim, status: number, body: string, gateway = idempotency) =>
  gateway.complete({ claim, fingerprint: SAME, status, body });

/** Until then a completion may be known to its gateway alone. */
const writeCompletions = async (gateway = idempotency) => {
  await gateway.carryCompletions((completions) => completeRecords(database, completions));
  await nextTurn();
};

const claimFirst = async (recordId: string) => claimIn(await idempotency.claim(use(recordId)));

describe('the situations of the contract', () => {
  test('first use: the operation runs under the id that was minted for it', async () => {
    const first = use(randomUUID());
    expect(await idempotency.claim(first)).toEqual({
      kind: 'claimed',
      claim: { recordId: first.recordId, operationId: first.operationId, generation: 0 },
    });
  });

  test('same key, same body: the stored answer, byte for byte, on every replica', async () => {
    const recordId = randomUUID();
    const body = '{"quote":"\\"é\\u0000{,}\\\\ NULL","metadata":{"a": 1.0}}';
    await complete(await claimFirst(recordId), 201, body);
    expect(await idempotency.claim(use(recordId))).toEqual({ kind: 'replay', status: 201, body });
    expect(await replica.claim(use(recordId))).toEqual({ kind: 'replay', status: 201, body });
  });

  test('same key, different body: reused, whether the first is in flight or completed', async () => {
    const recordId = randomUUID();
    const claim = await claimFirst(recordId);
    expect(await idempotency.claim(use(recordId, OTHER))).toEqual({ kind: 'reused' });
    await complete(claim, 200, '{}');
    expect(await idempotency.claim(use(recordId, OTHER))).toEqual({ kind: 'reused' });
    await writeCompletions();
    expect(await idempotency.claim(use(recordId, OTHER))).toEqual({ kind: 'reused' });
  });

  test('same key, original in flight: in progress, until 60 seconds have passed', async () => {
    const recordId = randomUUID();
    await claimFirst(recordId);
    advance(TAKEOVER_MS - 1);
    expect(await replica.claim(use(recordId))).toEqual({ kind: 'in_progress' });
  });

  test('same key, original died: the retry takes over the same operation', async () => {
    const recordId = randomUUID();
    const dead = await claimFirst(recordId);
    advance(TAKEOVER_MS);
    expect(claimIn(await replica.claim(use(recordId)))).toEqual({ ...dead, generation: 1 });
  });
});

describe('an answer that is not written yet', () => {
  test('is repeated from memory where it was given, and refused to another request', async () => {
    const recordId = randomUUID();
    await complete(await claimFirst(recordId), 201, '{"n":1}');
    expect(await idempotency.claim(use(recordId))).toEqual({ kind: 'replay', status: 201, body: '{"n":1}' });
    expect(await idempotency.claim(use(recordId, OTHER))).toEqual({ kind: 'reused' });
  });

  test('is found by another replica at its second look, and is written by itself', async () => {
    const recordId = randomUUID();
    const claim = await claimFirst(recordId);
    const looking = replica.claim(use(recordId));
    await complete(claim, 201, '{"n":2}');
    expect(await looking).toEqual({ kind: 'replay', status: 201, body: '{"n":2}' });
  });

  test('is written by itself when the statement that carried it failed', async () => {
    const recordId = randomUUID();
    await complete(await claimFirst(recordId), 201, '{"n":3}');
    const carried: string[] = [];
    const failing = idempotency.carryCompletions(async (completions) => {
      carried.push(...completions.map((completion) => completion.body));
      throw new Error('no connection');
    });
    await expect(failing).rejects.toThrow('no connection');
    expect(carried).toContain('{"n":3}');
    expect(await replica.claim(use(recordId))).toEqual({ kind: 'replay', status: 201, body: '{"n":3}' });
  });

  test('is written before its gateway is gone', async () => {
    const closing = createIdempotency({ database, clock: () => now, logger, takeoverMs: 60_000, retentionMs: 1 });
    const recordId = randomUUID();
    await complete(claimIn(await closing.claim(use(recordId))), 201, '{"n":4}', closing);
    await closing[Symbol.asyncDispose]();
    const [row] = await database.query({ text: 'select state from idempotency_records where id = $1' }, [recordId]);
    expect(row).toEqual({ state: 'completed' });
  });
});

describe('how a claim ends', () => {
  test('a refusal leaves the key as if it had never been used', async () => {
    const recordId = randomUUID();
    await idempotency.forget(await claimFirst(recordId));
    const next = use(recordId, OTHER);
    expect(claimIn(await idempotency.claim(next)).operationId).toBe(next.operationId);
  });

  test('after a failure of ours the same request resumes the operation', async () => {
    const recordId = randomUUID();
    const failed = await claimFirst(recordId);
    await idempotency.release(failed);
    expect(claimIn(await idempotency.claim(use(recordId)))).toEqual({ ...failed, generation: 1 });
  });

  test('after a failure of ours another request is another operation', async () => {
    const recordId = randomUUID();
    await idempotency.release(await claimFirst(recordId));
    const next = use(recordId, OTHER);
    expect(claimIn(await idempotency.claim(next)).operationId).toBe(next.operationId);
    expect(await idempotency.claim(use(recordId))).toEqual({ kind: 'reused' });
  });

  test.each<[string, (claim: Claim) => Promise<void>]>([
    ['complete', (claim) => complete(claim, 200, '{"from":"the dead"}')],
    ['forget', (claim) => idempotency.forget(claim)],
    ['release', (claim) => idempotency.release(claim)],
  ])('a claim that was taken over can no longer %s', async (_what, end) => {
    const recordId = randomUUID();
    const slow = await claimFirst(recordId);
    advance(TAKEOVER_MS);
    const taker = claimIn(await replica.claim(use(recordId)));
    await end(slow);
    await writeCompletions();
    expect(await idempotency.claim(use(recordId))).toEqual({ kind: 'in_progress' });
    await complete(taker, 200, '{"from":"the taker"}', replica);
    await writeCompletions(replica);
    expect(await idempotency.claim(use(recordId))).toMatchObject({ kind: 'replay', body: '{"from":"the taker"}' });
  });

  test('a slow claim does not touch the operation that came after its key was freed', async () => {
    const recordId = randomUUID();
    const slow = await claimFirst(recordId);
    advance(TAKEOVER_MS);
    await replica.forget(claimIn(await replica.claim(use(recordId))));
    const fresh = claimIn(await replica.claim(use(recordId)));
    expect(fresh.generation).toBe(slow.generation);
    await complete(slow, 200, '{"from":"the slow"}');
    await writeCompletions();
    expect(await idempotency.claim(use(recordId))).toEqual({ kind: 'in_progress' });
  });

  test('an answer is not overwritten by a late failure', async () => {
    const recordId = randomUUID();
    const claim = await claimFirst(recordId);
    await complete(claim, 200, '{}');
    await writeCompletions();
    await idempotency.release(claim);
    await idempotency.forget(claim);
    expect((await idempotency.claim(use(recordId))).kind).toBe('replay');
  });
});

describe('races', () => {
  test('200 parallel uses of one key on two replicas: one runs, the others wait', async () => {
    const recordId = randomUUID();
    const verdicts = await Promise.all(
      Array.from({ length: 200 }, (_, index) => (index % 2 === 0 ? idempotency : replica).claim(use(recordId))),
    );
    expect(verdicts.filter((verdict) => verdict.kind === 'claimed')).toHaveLength(1);
    expect(verdicts.filter((verdict) => verdict.kind === 'in_progress')).toHaveLength(199);
  });

  test('200 parallel takeovers of one dead key on two replicas: one resumes', async () => {
    const recordId = randomUUID();
    const dead = await claimFirst(recordId);
    advance(TAKEOVER_MS);
    const verdicts = await Promise.all(
      Array.from({ length: 200 }, (_, index) => (index % 2 === 0 ? idempotency : replica).claim(use(recordId))),
    );
    const claims = verdicts.flatMap((verdict) => (verdict.kind === 'claimed' ? [verdict.claim] : []));
    expect(claims).toEqual([{ ...dead, generation: 1 }]);
    expect(verdicts.filter((verdict) => verdict.kind === 'in_progress')).toHaveLength(199);
  });

  test('many keys in any order on two replicas neither mix nor deadlock', async () => {
    const recordIds = Array.from({ length: 120 }, () => randomUUID());
    const [ours, theirs] = await Promise.all([
      Promise.all(recordIds.map((recordId) => idempotency.claim(use(recordId)))),
      Promise.all([...recordIds].reverse().map((recordId) => replica.claim(use(recordId)))),
    ]);
    recordIds.forEach((recordId, index) => {
      const both = [ours[index], theirs[recordIds.length - 1 - index]];
      const claims = both.flatMap((verdict) => (verdict?.kind === 'claimed' ? [verdict.claim] : []));
      expect(claims).toMatchObject([{ recordId }]);
    });
  });

  test('freeing and using one key in parallel never runs two at a time', async () => {
    const recordId = randomUUID();
    let running = 0;
    let ran = 0;
    await Promise.all(
      Array.from({ length: 100 }, async (_, index) => {
        const gateway = index % 2 === 0 ? idempotency : replica;
        const verdict = await gateway.claim(use(recordId));
        if (verdict.kind !== 'claimed') return;
        running += 1;
        ran += 1;
        expect(running).toBe(1);
        running -= 1;
        await gateway.forget(verdict.claim);
      }),
    );
    expect(ran).toBeGreaterThanOrEqual(1);
  });
});

describe('retention', () => {
  test('after 24 hours a key is fresh, even before its record is deleted', async () => {
    const recordId = randomUUID();
    await complete(await claimFirst(recordId), 200, '{}');
    await writeCompletions();
    advance(RETENTION_MS - 1);
    expect((await idempotency.claim(use(recordId))).kind).toBe('replay');
    advance(1);
    const next = use(recordId);
    expect(claimIn(await idempotency.claim(next)).operationId).toBe(next.operationId);
  });

  test('the worker deletes what is older, and nothing else', async () => {
    await database.query({ text: 'delete from idempotency_records' });
    await Promise.all(Array.from({ length: 30 }, () => claimFirst(randomUUID())));
    advance(1);
    const young = randomUUID();
    await claimFirst(young);
    advance(RETENTION_MS);
    expect(await createDeleteOldRecords(database, RETENTION_MS)(now)).toBe(30);
    const left = await database.query<{ id: string }>({ text: 'select id from idempotency_records' });
    expect(left).toEqual([{ id: young }]);
  });
});

describe('what a key is bound to', () => {
  test('the order of members does not matter, the path and every value do', () => {
    expect(fingerprintOf({}, { a: 1, b: [1.5] })).toBe(fingerprintOf({}, { b: [1.5], a: 1 }));
    expect(fingerprintOf({ attempt_id: 'x' }, {})).not.toBe(fingerprintOf({ attempt_id: 'y' }, {}));
    expect(fingerprintOf({}, { a: 1 })).not.toBe(fingerprintOf({}, { a: '1' }));
  });

  test('tenant, environment, endpoint and key each make another record', () => {
    const tenant = { programId: 'p', environment: 'test' };
    const ids = [
      recordIdOf(tenant, 'post /attempts', 'k'),
      recordIdOf({ ...tenant, programId: 'q' }, 'post /attempts', 'k'),
      recordIdOf({ ...tenant, environment: 'live' }, 'post /attempts', 'k'),
      recordIdOf(tenant, 'post /attempts/{attempt_id}/outcome', 'k'),
      recordIdOf(tenant, 'post /attempts', 'l'),
    ];
    expect(new Set(ids).size).toBe(ids.length);
  });
});
