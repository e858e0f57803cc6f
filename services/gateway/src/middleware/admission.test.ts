import { randomBytes, randomUUID } from 'node:crypto';
import { ConnectionFailedError, createDatabase, type Database } from '@laurel/postgres';
import { createLogger } from '@laurel/service';
import { createTestDatabase } from '@laurel/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hashKey, type KeyEnvironment, mintKey } from '../domain/api-key.ts';
import { recordKeyUse } from '../repository/admissions.ts';
import { type Admission, createAdmission, type Verdict } from './admission.ts';
import { createIdempotency, type Idempotency } from './idempotency.ts';
import { fingerprintOf } from './key-use.ts';

const PEPPER = randomBytes(32);
const LIMIT = 300;
/** So long that no test ever meets the end of a window by chance. */
const WINDOW_MS = 365 * 24 * 3_600_000;

const logger = createLogger({ service: 'gateway', level: 'silent' });
const stack = new AsyncDisposableStack();
let url: string;
let database: Database;
let idempotency: Idempotency;
let admission: Admission;
let replica: Admission;

const connect = () => createDatabase({ url, maxConnections: 4, applicationName: 'test' });
const open = (over: Database, limit = LIMIT, acceptedEnvironments: readonly KeyEnvironment[] = ['test', 'live']) =>
  createAdmission({
    database: over,
    idempotency,
    pepper: PEPPER,
    acceptedEnvironments,
    limit,
    clock: () => new Date(),
    logger,
    windowMs: WINDOW_MS,
  });

beforeAll(async () => {
  ({ url } = stack.use(await createTestDatabase({ migrations: new URL('../../migrations/', import.meta.url) })));
  database = stack.use(connect());
  const clock = () => new Date();
  idempotency = stack.use(
    createIdempotency({ database, clock, logger, takeoverMs: 60_000, retentionMs: 24 * 3_600_000 }),
  );
  admission = stack.use(open(database));
  replica = stack.use(open(stack.use(connect())));
});
afterAll(() => stack.disposeAsync());

/** A program with one key. */
async function issueKey(
  environment: KeyEnvironment = 'test',
  program: { status?: string; deletionScheduled?: boolean } = {},
): Promise<{ key: string; programId: string }> {
  const { key, prefix, last4 } = mintKey(environment);
  const programId = randomUUID();
  await database.query(
    { text: 'insert into programs (id, name, status, deletion_scheduled) values ($1, $2, $3, $4)' },
    [programId, 'Test', program.status ?? 'approved', program.deletionScheduled ?? false],
  );
  await database.query(
    {
      text: 'insert into api_keys (id, program_id, environment, key_hash, prefix, last4) values ($1, $2, $3, $4, $5, $6)',
    },
    [randomUUID(), programId, environment, hashKey(PEPPER, key), prefix, last4],
  );
  return { key, programId };
}

async function endWindow(programId: string): Promise<void> {
  await database.query(
    {
      text: `
        update rate_windows set started_at = started_at - interval '1 year'
        from api_keys where api_keys.id = rate_windows.key_id and api_keys.program_id = $1`,
    },
    [programId],
  );
}

const countOf = (verdicts: readonly Verdict[], kind: Verdict['kind']) =>
  verdicts.filter((verdict) => verdict.kind === kind).length;

describe('who a key speaks for', () => {
  test('a key names its program and environment', async () => {
    const { key, programId } = await issueKey('live');
    expect(await admission.admit(key)).toMatchObject({
      kind: 'admitted',
      principal: { programId, environment: 'live' },
      remaining: LIMIT - 1,
    });
  });

  test('a test key of a draft program works', async () => {
    const { key } = await issueKey('test', { status: 'draft' });
    expect((await admission.admit(key)).kind).toBe('admitted');
  });

  test.each<[string, () => Promise<string | undefined>]>([
    ['no key', async () => undefined],
    ['an empty key', async () => ''],
    ['a malformed key', async () => 'sk_test_nonsense'],
    ['an unknown key', async () => mintKey('test').key],
    ['a live key of a draft program', async () => (await issueKey('live', { status: 'draft' })).key],
    ['a test key of a suspended program', async () => (await issueKey('test', { status: 'suspended' })).key],
    ['a live key of a suspended program', async () => (await issueKey('live', { status: 'suspended' })).key],
    ['a key of a closed program', async () => (await issueKey('test', { status: 'closed' })).key],
    ['a key of an account to be deleted', async () => (await issueKey('live', { deletionScheduled: true })).key],
  ])('%s is unauthorized', async (_name, key) => {
    expect(await admission.admit(await key())).toEqual({ kind: 'unauthorized' });
  });

  test('a key of an environment that is not accepted here is unauthorized', async () => {
    await using liveOnly = open(database, LIMIT, ['live']);
    expect(await liveOnly.admit((await issueKey('test')).key)).toEqual({ kind: 'unauthorized' });
    expect((await liveOnly.admit((await issueKey('live')).key)).kind).toBe('admitted');
  });

  test('a revoked key stops at once on every replica', async () => {
    const { key, programId } = await issueKey();
    expect((await admission.admit(key)).kind).toBe('admitted');
    expect((await replica.admit(key)).kind).toBe('admitted');
    await database.query({ text: 'update api_keys set revoked_at = now() where program_id = $1' }, [programId]);
    expect(await admission.admit(key)).toEqual({ kind: 'unauthorized' });
    expect(await replica.admit(key)).toEqual({ kind: 'unauthorized' });
  });

  test('a suspended program stops at once, and works again once reinstated', async () => {
    const { key, programId } = await issueKey('live');
    const set = (status: string) =>
      database.query({ text: 'update programs set status = $2 where id = $1' }, [programId, status]);
    expect((await admission.admit(key)).kind).toBe('admitted');
    await set('suspended');
    expect(await admission.admit(key)).toEqual({ kind: 'unauthorized' });
    await set('approved');
    expect((await admission.admit(key)).kind).toBe('admitted');
  });
});

describe('how often', () => {
  test('400 parallel requests on two replicas: exactly 300 pass, and each of those sees another remainder', async () => {
    const { key } = await issueKey();
    const verdicts = await Promise.all(
      Array.from({ length: 400 }, (_, index) => (index % 2 === 0 ? admission : replica).admit(key)),
    );
    expect(countOf(verdicts, 'admitted')).toBe(LIMIT);
    expect(countOf(verdicts, 'limited')).toBe(100);
    const remainders = verdicts.flatMap((verdict) => (verdict.kind === 'admitted' ? [verdict.remaining] : []));
    expect(remainders.sort((a, b) => a - b)).toEqual(Array.from({ length: LIMIT }, (_, index) => index));
  });

  test('many keys on two replicas never wait for each other in a circle', async () => {
    const keys = await Promise.all(Array.from({ length: 40 }, () => issueKey()));
    const verdicts = await Promise.all(
      Array.from({ length: 800 }, (_, index) =>
        (index % 2 === 0 ? admission : replica).admit(keys[(index * 7) % keys.length]?.key),
      ),
    );
    expect(countOf(verdicts, 'admitted')).toBe(800);
  });

  test('to be identified costs nothing of the rate', async () => {
    const { key, programId } = await issueKey();
    expect(await admission.identify(key)).toMatchObject({ programId, environment: 'test' });
    expect(await admission.identify(mintKey('test').key)).toBeNull();
    expect(await admission.admit(key)).toMatchObject({ remaining: LIMIT - 1 });
  });

  test('unauthorized requests count against nobody', async () => {
    await Promise.all(Array.from({ length: 50 }, () => admission.admit('sk_test_nonsense')));
    const { key } = await issueKey();
    expect(await admission.admit(key)).toMatchObject({ remaining: LIMIT - 1 });
  });

  test('a refused key says until when, answers from memory for a moment, and passes in the next window', async () => {
    const { key, programId } = await issueKey();
    await using narrow = open(database, 2);
    await narrow.admit(key);
    await narrow.admit(key);
    const refused = await narrow.admit(key);
    expect(refused).toMatchObject({ kind: 'limited', principal: { programId } });
    if (refused.kind !== 'limited') return;
    expect(refused.resetAt.getTime() % WINDOW_MS).toBe(0);
    expect(refused.retryAfterSeconds).toBeGreaterThanOrEqual(1);

    await endWindow(programId);
    expect(await narrow.admit(key)).toBe(refused);
    await using later = open(database, 2);
    expect(await later.admit(key)).toMatchObject({ kind: 'admitted', remaining: 1 });
  });

  test('a window that a faster clock opened is not reset by a slower one', async () => {
    const { key, programId } = await issueKey();
    await admission.admit(key);
    await database.query(
      {
        text: `
          update rate_windows set started_at = started_at + interval '1 year'
          from api_keys where api_keys.id = rate_windows.key_id and api_keys.program_id = $1`,
      },
      [programId],
    );
    expect(await admission.admit(key)).toMatchObject({ remaining: LIMIT - 2 });
  });

  test('when a key was last used is written down', async () => {
    const { key, programId } = await issueKey();
    await admission.admit(key);
    await recordKeyUse(database);
    const [row] = await database.query<{ last_used_at: Date | null }>(
      { text: 'select last_used_at from api_keys where program_id = $1' },
      [programId],
    );
    expect(row?.last_used_at).toBeInstanceOf(Date);
  });
});

describe('a claim that comes along', () => {
  const FINGERPRINT = fingerprintOf({}, { score: 1 });
  const newUse = (recordId = randomUUID()) => ({ recordId, operationId: randomUUID(), fingerprint: FINGERPRINT });
  const claimOf = ({ recordId, operationId }: ReturnType<typeof newUse>) => ({ recordId, operationId, generation: 0 });

  /** What the records say; in the order of the uses. */
  async function recordsOf(uses: readonly { readonly recordId: string }[]): Promise<unknown[]> {
    const rows = await database.query<{ id: string; state: string; operation_id: string }>(
      { text: 'select id, state, operation_id from idempotency_records where id = any ($1::uuid[])' },
      [uses.map((use) => use.recordId)],
    );
    return uses.map((use) => {
      const row = rows.find(({ id }) => id === use.recordId);
      return row && { operationId: row.operation_id, state: row.state };
    });
  }

  async function issueKnownKey(via = admission) {
    const issued = await issueKey();
    expect((await via.admit(issued.key)).kind).toBe('admitted');
    return issued;
  }

  test('is made in the statement that admits a key that was seen before', async () => {
    const { key } = await issueKnownKey();
    const use = newUse();
    expect(await admission.admit(key, () => use)).toMatchObject({
      kind: 'admitted',
      remaining: LIMIT - 2,
      claim: claimOf(use),
    });
    expect(await recordsOf([use])).toEqual([{ operationId: use.operationId, state: 'claimed' }]);
  });

  test('is not asked for while the key is unknown, nor by a request that has nothing to claim', async () => {
    const { key } = await issueKey();
    const asked: string[] = [];
    const first = await admission.admit(key, ({ programId }) => {
      asked.push(programId);
      return newUse();
    });
    expect([asked, first.claim]).toEqual([[], undefined]);
    expect(await admission.admit(key, () => null)).toMatchObject({ kind: 'admitted', remaining: LIMIT - 2 });
  });

  test('is not made for a key that was revoked meanwhile', async () => {
    const { key, programId } = await issueKnownKey();
    await database.query({ text: 'update api_keys set revoked_at = now() where program_id = $1' }, [programId]);
    const use = newUse();
    expect(await admission.admit(key, () => use)).toEqual({ kind: 'unauthorized' });
    expect(await recordsOf([use])).toEqual([undefined]);
  });

  test('is not made by what is remembered of a key whose hash is another now', async () => {
    const { key, programId } = await issueKnownKey();
    await database.query({ text: 'update api_keys set key_hash = $2 where program_id = $1' }, [
      programId,
      randomBytes(32),
    ]);
    const use = newUse();
    expect(await admission.admit(key, () => use)).toEqual({ kind: 'unauthorized' });
    expect(await recordsOf([use])).toEqual([undefined]);
  });

  test('is not made beyond the limit: of a batch that passes it, some are admitted and none is claimed', async () => {
    const other = await issueKnownKey();
    const { key } = await issueKey();
    await using narrow = open(database, 4);
    expect((await narrow.admit(key)).kind).toBe('admitted');
    expect((await narrow.admit(other.key)).kind).toBe('admitted');
    const uses = Array.from({ length: 6 }, () => newUse());
    const [elsewhere, ...verdicts] = await Promise.all([
      narrow.admit(other.key, () => uses[5] ?? null),
      ...uses.slice(0, 5).map((use) => narrow.admit(key, () => use)),
    ]);
    expect(verdicts.map((verdict) => verdict?.kind)).toEqual([
      ...Array<string>(3).fill('admitted'),
      ...Array<string>(2).fill('limited'),
    ]);
    expect(verdicts.every((verdict) => verdict?.claim === undefined)).toBe(true);
    expect(elsewhere?.claim).toBeDefined();
    expect((await recordsOf(uses)).map((record) => record !== undefined)).toEqual([...Array(5).fill(false), true]);
  });

  test('is made once per record: a second use in the batch, and one of a record that exists, ask by themselves', async () => {
    const { key } = await issueKnownKey();
    const first = newUse();
    const second = newUse(first.recordId);
    const verdicts = await Promise.all([first, second].map((use) => admission.admit(key, () => use)));
    expect(verdicts.map((verdict) => verdict.claim)).toEqual([claimOf(first), undefined]);
    const third = newUse(first.recordId);
    expect(await admission.admit(key, () => third)).toEqual(expect.not.objectContaining({ claim: expect.anything() }));
    expect(await recordsOf([first])).toEqual([{ operationId: first.operationId, state: 'claimed' }]);
  });

  test('brings the completions that wait', async () => {
    const { key } = await issueKnownKey();
    const [use, next] = [newUse(), newUse()];
    const { claim } = await admission.admit(key, () => use);
    if (claim === undefined) throw new Error('expected a claim');
    await idempotency.complete({ claim, fingerprint: use.fingerprint, status: 201, body: '{"a":"\\u0000"}' });
    await admission.admit(key, () => next);
    expect(await recordsOf([use, next])).toMatchObject([{ state: 'completed' }, { state: 'claimed' }]);
  });

  test('is found again when the answer of the database was lost', async () => {
    const { key } = await issueKey();
    const losing = { ...database, isLosing: false };
    losing.query = async (...query) => {
      const rows = await database.query(...query);
      if (losing.isLosing) throw new ConnectionFailedError('lost');
      return rows as never;
    };
    await using unlucky = open(losing, 3);
    await unlucky.admit(key);
    losing.isLosing = true;
    const use = newUse();
    const verdict = await unlucky.admit(key, () => use);
    expect([verdict.kind, verdict.claim]).toEqual(['admitted', undefined]);
    expect(await idempotency.claim(use)).toEqual({ kind: 'claimed', claim: claimOf(use) });
  });

  test('many keys and records on two replicas, with completions, never wait for each other in a circle', async () => {
    const keys = await Promise.all(Array.from({ length: 20 }, () => issueKey()));
    const recordIds = Array.from({ length: 60 }, () => randomUUID());
    for (const gateway of [admission, replica]) await Promise.all(keys.map(({ key }) => gateway.admit(key)));
    const verdicts = await Promise.all(
      Array.from({ length: 600 }, async (_, index) => {
        const gateway = index % 2 === 0 ? admission : replica;
        const use = newUse(recordIds[(index * 31) % recordIds.length]);
        const verdict = await gateway.admit(keys[(index * 7) % keys.length]?.key, () => use);
        if (verdict.claim !== undefined) {
          await idempotency.complete({ ...use, claim: verdict.claim, status: 200, body: '{}' });
        }
        return verdict;
      }),
    );
    expect(countOf(verdicts, 'admitted')).toBe(600);
    const claimed = verdicts.flatMap(({ claim }) => (claim === undefined ? [] : [claim.recordId]));
    expect(claimed.toSorted()).toEqual(recordIds.toSorted());
  });
});

describe('without the database', () => {
  test('a key seen before passes on what was known, within its rate; an unknown one cannot be judged', async () => {
    const { key } = await issueKey();
    const other = await issueKey();
    const doomed = connect();
    await using lonely = open(doomed, 3);
    expect(await lonely.admit(key)).toMatchObject({ kind: 'admitted', remaining: 2 });
    await doomed[Symbol.asyncDispose]();

    const verdicts = [
      await lonely.admit(key),
      await lonely.admit(key),
      await lonely.admit(key),
      await lonely.admit(key),
    ];
    expect(verdicts.map((verdict) => verdict.kind)).toEqual(['admitted', 'admitted', 'admitted', 'limited']);
    await expect(lonely.admit(other.key)).rejects.toThrow();
    await expect(lonely.admit(undefined)).rejects.toThrow();
  });

  test('a key that was revoked here passes on no memory, not even on an answer that was on its way', async () => {
    const { key } = await issueKey();
    const doomed = connect();
    await using lonely = open(doomed, 10);
    expect((await lonely.admit(key)).kind).toBe('admitted');
    const onItsWay = lonely.admit(key);
    lonely.forget(hashKey(PEPPER, key).toString('hex'));
    expect((await onItsWay).kind).toBe('admitted');
    await doomed[Symbol.asyncDispose]();
    await expect(lonely.admit(key)).rejects.toThrow();
  });
});
