import { randomBytes, randomUUID } from 'node:crypto';
import { ConnectionFailedError, createDatabase, type Database } from '@laurel/postgres';
import { createLogger } from '@laurel/service';
import { createTestDatabase } from '@laurel/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ApiKeyEnvironment, hashApiKey, mintApiKey } from '../domain/api-key.ts';
import { type Pepper, peppersOf } from '../domain/peppers.ts';
import { createIdempotency, type Idempotency } from '../idempotency/idempotency.ts';
import { fingerprintOf } from '../idempotency/idempotency-use.ts';
import { recordKeyUse } from '../repository/admissions.ts';
import { type Admission, createAdmission, type Verdict } from './admission.ts';

const PEPPER = randomBytes(32);
const LIMIT = 300;
/** The window is so long that none ends during a test. */
const WINDOW_MS = 365 * 24 * 3_600_000;

const logger = createLogger({ service: 'gateway', level: 'silent' });
const stack = new AsyncDisposableStack();
let url: string;
let database: Database;
let idempotency: Idempotency;
let admission: Admission;
let replica: Admission;

const connect = () => createDatabase({ url, maxConnections: 4, applicationName: 'test' });
const open = (
  over: Database,
  limit = LIMIT,
  acceptedEnvironments: readonly ApiKeyEnvironment[] = ['test', 'live'],
  peppers = peppersOf({ version: 1, bytes: PEPPER }),
) =>
  createAdmission({
    database: over,
    idempotency,
    peppers,
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
  idempotency = stack.use(createIdempotency({ database, clock, logger, takeoverMs: 60_000 }));
  admission = stack.use(open(database));
  replica = stack.use(open(stack.use(connect())));
});
afterAll(() => stack.disposeAsync());

/** A program with one key. */
async function issueKey(
  environment: ApiKeyEnvironment = 'test',
  program: { status?: string; deletionScheduled?: boolean } = {},
): Promise<{ key: string; programId: string }> {
  const { key, prefix, last4 } = mintApiKey(environment);
  const programId = randomUUID();
  await database.query(
    { text: 'insert into programs (id, name, status, deletion_scheduled) values ($1, $2, $3, $4)' },
    [programId, 'Test', program.status ?? 'approved', program.deletionScheduled ?? false],
  );
  await database.query(
    {
      text: 'insert into api_keys (id, program_id, environment, key_hash, prefix, last4) values ($1, $2, $3, $4, $5, $6)',
    },
    [randomUUID(), programId, environment, hashApiKey(PEPPER, key), prefix, last4],
  );
  return { key, programId };
}

/** Replaces the program's key with a new one, as the portal does. */
async function regenerateKey(programId: string): Promise<string> {
  const { key, prefix, last4 } = mintApiKey('test');
  await database.transaction(async (transaction) => {
    await transaction.query({ text: 'update api_keys set revoked_at = now() where program_id = $1' }, [programId]);
    await transaction.query(
      {
        text: 'insert into api_keys (id, program_id, environment, key_hash, prefix, last4) values ($1, $2, $3, $4, $5, $6)',
      },
      [randomUUID(), programId, 'test', hashApiKey(PEPPER, key), prefix, last4],
    );
  });
  return key;
}

async function endWindow(programId: string): Promise<void> {
  await database.query(
    {
      text: `
        update request_windows set started_at = started_at - interval '1 year'
        from api_keys where api_keys.window_id = request_windows.subject and api_keys.program_id = $1`,
    },
    [programId],
  );
}

const countOf = (verdicts: readonly Verdict[], kind: Verdict['kind']) =>
  verdicts.filter((verdict) => verdict.kind === kind).length;

describe('principals of keys', () => {
  test('an API key resolves to its program and environment', async () => {
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
    ['an unknown key', async () => mintApiKey('test').key],
    ['a live key of a draft program', async () => (await issueKey('live', { status: 'draft' })).key],
    ['a test key of a suspended program', async () => (await issueKey('test', { status: 'suspended' })).key],
    ['a live key of a suspended program', async () => (await issueKey('live', { status: 'suspended' })).key],
    ['a key of a closed program', async () => (await issueKey('test', { status: 'closed' })).key],
    ['a key of an account to be deleted', async () => (await issueKey('live', { deletionScheduled: true })).key],
  ])('a request with %s is unauthorized', async (_name, key) => {
    expect(await admission.admit(await key())).toEqual({ kind: 'unauthorized' });
  });

  test('a key of an environment that the gateway does not accept is unauthorized', async () => {
    await using liveOnly = open(database, LIMIT, ['live']);
    expect(await liveOnly.admit((await issueKey('test')).key)).toEqual({ kind: 'unauthorized' });
    expect((await liveOnly.admit((await issueKey('live')).key)).kind).toBe('admitted');
  });

  test('a revoked key stops working immediately on every replica', async () => {
    const { key, programId } = await issueKey();
    expect((await admission.admit(key)).kind).toBe('admitted');
    expect((await replica.admit(key)).kind).toBe('admitted');
    await database.query({ text: 'update api_keys set revoked_at = now() where program_id = $1' }, [programId]);
    expect(await admission.admit(key)).toEqual({ kind: 'unauthorized' });
    expect(await replica.admit(key)).toEqual({ kind: 'unauthorized' });
  });

  test('the keys of a suspended program are unauthorized until its reinstatement', async () => {
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

describe('rate limit of /v1', () => {
  test('exactly 300 of 400 parallel requests on two replicas are admitted', async () => {
    const { key } = await issueKey();
    const verdicts = await Promise.all(
      Array.from({ length: 400 }, (_, index) => (index % 2 === 0 ? admission : replica).admit(key)),
    );
    expect(countOf(verdicts, 'admitted')).toBe(LIMIT);
    expect(countOf(verdicts, 'limited')).toBe(100);
    const remainders = verdicts.flatMap((verdict) => (verdict.kind === 'admitted' ? [verdict.remaining] : []));
    expect(remainders.sort((a, b) => a - b)).toEqual(Array.from({ length: LIMIT }, (_, index) => index));
  });

  test('a new API key continues the rate limit count of the key that it replaces', async () => {
    const { key, programId } = await issueKey();
    for (let request = 1; request <= 3; request += 1) await admission.admit(key);
    const next = await regenerateKey(programId);
    expect(await replica.admit(next)).toMatchObject({ kind: 'admitted', remaining: LIMIT - 4 });
    const use = { recordId: randomUUID(), operationId: randomUUID(), fingerprint: fingerprintOf({}, {}) };
    expect(await replica.admit(next, () => use)).toMatchObject({
      remaining: LIMIT - 5,
      idempotencyLock: { generation: 0 },
    });
    await recordKeyUse(database);
    const keys = await database.query<{ used: boolean }>(
      { text: 'select last_used_at is not null as used from api_keys where program_id = $1 order by revoked_at' },
      [programId],
    );
    // The window keeps only the key that was used last, so the use of the old key is not recorded
    // here. The service stores the last use of a key when it revokes the key (`revokeKeys`).
    expect(keys).toEqual([{ used: false }, { used: true }]);
  });

  test('requests with the test key and the live key of a program are counted separately', async () => {
    const { key, programId } = await issueKey('test');
    const live = mintApiKey('live');
    await database.query(
      {
        text: 'insert into api_keys (id, program_id, environment, key_hash, prefix, last4) values ($1, $2, $3, $4, $5, $6)',
      },
      [randomUUID(), programId, 'live', hashApiKey(PEPPER, live.key), live.prefix, live.last4],
    );
    await admission.admit(key);
    expect(await admission.admit(live.key)).toMatchObject({ kind: 'admitted', remaining: LIMIT - 1 });
  });

  test('requests of many keys on two replicas never deadlock', async () => {
    const keys = await Promise.all(Array.from({ length: 40 }, () => issueKey()));
    const verdicts = await Promise.all(
      Array.from({ length: 800 }, (_, index) =>
        (index % 2 === 0 ? admission : replica).admit(keys[(index * 7) % keys.length]?.key),
      ),
    );
    expect(countOf(verdicts, 'admitted')).toBe(800);
  });

  test('a look-up of an API key does not count against the rate limit of the key', async () => {
    const { key, programId } = await issueKey();
    expect(await admission.identify(key)).toMatchObject({ programId, environment: 'test' });
    expect(await admission.identify(mintApiKey('test').key)).toBeNull();
    expect(await admission.admit(key)).toMatchObject({ remaining: LIMIT - 1 });
  });

  test('an unauthorized request does not count against the rate limit of any program', async () => {
    await Promise.all(Array.from({ length: 50 }, () => admission.admit('sk_test_nonsense')));
    const { key } = await issueKey();
    expect(await admission.admit(key)).toMatchObject({ remaining: LIMIT - 1 });
  });

  test('a limited key is admitted again in the next rate window', async () => {
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

  test('a replica with a slow clock does not reset a window that a faster clock opened', async () => {
    const { key, programId } = await issueKey();
    await admission.admit(key);
    await database.query(
      {
        text: `
          update request_windows set started_at = started_at + interval '1 year'
          from api_keys where api_keys.window_id = request_windows.subject and api_keys.program_id = $1`,
      },
      [programId],
    );
    expect(await admission.admit(key)).toMatchObject({ remaining: LIMIT - 2 });
  });

  test('the last use of a key is stored', async () => {
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

describe('idempotency locks with the admission', () => {
  const FINGERPRINT = fingerprintOf({}, { score: 1 });
  const newUse = (recordId = randomUUID()) => ({ recordId, operationId: randomUUID(), fingerprint: FINGERPRINT });
  const lockOf = ({ recordId, operationId }: ReturnType<typeof newUse>) => ({ recordId, operationId, generation: 0 });

  /** The state of the records, in the order of the uses. */
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

  test('the statement that admits a known API key also makes the idempotency lock', async () => {
    const { key } = await issueKnownKey();
    const use = newUse();
    expect(await admission.admit(key, () => use)).toMatchObject({
      kind: 'admitted',
      remaining: LIMIT - 2,
      idempotencyLock: lockOf(use),
    });
    expect(await recordsOf([use])).toEqual([{ operationId: use.operationId, state: 'locked' }]);
  });

  test('an idempotency lock is not requested before the API key has resolved once', async () => {
    const { key } = await issueKey();
    const asked: string[] = [];
    const first = await admission.admit(key, ({ programId }) => {
      asked.push(programId);
      return newUse();
    });
    expect([asked, first.idempotencyLock]).toEqual([[], undefined]);
    expect(await admission.admit(key, () => null)).toMatchObject({ kind: 'admitted', remaining: LIMIT - 2 });
  });

  test('an idempotency lock is not made for an API key that was revoked meanwhile', async () => {
    const { key, programId } = await issueKnownKey();
    await database.query({ text: 'update api_keys set revoked_at = now() where program_id = $1' }, [programId]);
    const use = newUse();
    expect(await admission.admit(key, () => use)).toEqual({ kind: 'unauthorized' });
    expect(await recordsOf([use])).toEqual([undefined]);
  });

  test('a revoked API key gets no idempotency lock, even in one batch with the key that replaced it', async () => {
    const { key, programId } = await issueKnownKey();
    const next = await regenerateKey(programId);
    expect((await admission.admit(next)).kind).toBe('admitted');
    const [use, nextUse] = [newUse(), newUse()];
    const verdicts = await Promise.all([admission.admit(key, () => use), admission.admit(next, () => nextUse)]);
    expect(verdicts).toMatchObject([{ kind: 'unauthorized' }, { kind: 'admitted', remaining: LIMIT - 3 }]);
    expect(await recordsOf([use, nextUse])).toMatchObject([undefined, { state: 'locked' }]);
  });

  test('an API key whose stored hash has changed gets no idempotency lock', async () => {
    const { key, programId } = await issueKnownKey();
    await database.query({ text: 'update api_keys set key_hash = $2 where program_id = $1' }, [
      programId,
      randomBytes(32),
    ]);
    const use = newUse();
    expect(await admission.admit(key, () => use)).toEqual({ kind: 'unauthorized' });
    expect(await recordsOf([use])).toEqual([undefined]);
  });

  test('an API key gets no idempotency lock in a batch that exceeds the key’s rate limit', async () => {
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
    expect(verdicts.every((verdict) => verdict?.idempotencyLock === undefined)).toBe(true);
    expect(elsewhere?.idempotencyLock).toBeDefined();
    expect((await recordsOf(uses)).map((record) => record !== undefined)).toEqual([...Array(5).fill(false), true]);
  });

  test('only the first use of a record in a batch gets the idempotency lock', async () => {
    const { key } = await issueKnownKey();
    const first = newUse();
    const second = newUse(first.recordId);
    const verdicts = await Promise.all([first, second].map((use) => admission.admit(key, () => use)));
    expect(verdicts.map((verdict) => verdict.idempotencyLock)).toEqual([lockOf(first), undefined]);
    const third = newUse(first.recordId);
    expect(await admission.admit(key, () => third)).toEqual(
      expect.not.objectContaining({ idempotencyLock: expect.anything() }),
    );
    expect(await recordsOf([first])).toEqual([{ operationId: first.operationId, state: 'locked' }]);
  });

  test('the statement that admits a request also writes the waiting completions', async () => {
    const { key } = await issueKnownKey();
    const [use, next] = [newUse(), newUse()];
    const { idempotencyLock } = await admission.admit(key, () => use);
    if (idempotencyLock === undefined) throw new Error('expected an idempotency lock');
    await idempotency.complete({ idempotencyLock, fingerprint: use.fingerprint, status: 201, body: '{"a":"\\u0000"}' });
    await admission.admit(key, () => next);
    expect(await recordsOf([use, next])).toMatchObject([{ state: 'completed' }, { state: 'locked' }]);
  });

  test('a gateway finds its own idempotency lock again after the database’s reply was lost', async () => {
    const { key } = await issueKey();
    const losing = { ...database, isLosing: false };
    losing.write = async (...statement) => {
      const rows = await database.write(...statement);
      if (losing.isLosing) throw new ConnectionFailedError('lost');
      return rows as never;
    };
    await using unlucky = open(losing, 3);
    await unlucky.admit(key);
    losing.isLosing = true;
    const use = newUse();
    const verdict = await unlucky.admit(key, () => use);
    expect([verdict.kind, verdict.idempotencyLock]).toEqual(['admitted', undefined]);
    expect(await idempotency.lock(use)).toEqual({ kind: 'locked', idempotencyLock: lockOf(use) });
  });

  test('requests with many keys and records on two replicas never deadlock', async () => {
    const keys = await Promise.all(Array.from({ length: 20 }, () => issueKey()));
    const recordIds = Array.from({ length: 60 }, () => randomUUID());
    for (const gateway of [admission, replica]) await Promise.all(keys.map(({ key }) => gateway.admit(key)));
    const verdicts = await Promise.all(
      Array.from({ length: 600 }, async (_, index) => {
        const gateway = index % 2 === 0 ? admission : replica;
        const use = newUse(recordIds[(index * 31) % recordIds.length]);
        const verdict = await gateway.admit(keys[(index * 7) % keys.length]?.key, () => use);
        if (verdict.idempotencyLock !== undefined) {
          await idempotency.complete({ ...use, idempotencyLock: verdict.idempotencyLock, status: 200, body: '{}' });
        }
        return verdict;
      }),
    );
    expect(countOf(verdicts, 'admitted')).toBe(600);
    const locked = verdicts.flatMap(({ idempotencyLock }) =>
      idempotencyLock === undefined ? [] : [idempotencyLock.recordId],
    );
    expect(locked.toSorted()).toEqual(recordIds.toSorted());
  });
});

describe('admission during a change of the pepper', () => {
  const OLD: Pepper = { version: 1, bytes: PEPPER };
  const NEW: Pepper = { version: 2, bytes: randomBytes(32) };
  const gatewayWith = (current: Pepper, ...accepted: Pepper[]) =>
    open(database, LIMIT, ['test', 'live'], peppersOf(current, accepted));
  const newUse = () => ({ recordId: randomUUID(), operationId: randomUUID(), fingerprint: fingerprintOf({}, {}) });
  const versionOf = async (programId: string) =>
    (
      await database.query<{ pepper_version: number }>(
        { text: 'select pepper_version from api_keys where program_id = $1' },
        [programId],
      )
    )[0]?.pepper_version;

  test('an API key that is used during a change of the pepper is stored under the new pepper', async () => {
    const { key, programId } = await issueKey();
    await using changed = gatewayWith(NEW, OLD);
    expect(await changed.admit(key)).toMatchObject({ kind: 'admitted', remaining: LIMIT - 1 });
    expect(await changed.identify(key)).toMatchObject({ programId });
    expect(await changed.admit(key, newUse)).toMatchObject({
      remaining: LIMIT - 2,
      idempotencyLock: { generation: 0 },
    });
    expect(await versionOf(programId)).toBe(1);

    await using finished = gatewayWith(NEW);
    expect(await finished.admit(key)).toEqual({ kind: 'unauthorized' });
    await changed.rehashKeys();
    expect(await versionOf(programId)).toBe(2);
    expect(await finished.admit(key)).toMatchObject({ kind: 'admitted', remaining: LIMIT - 3 });
    expect(await changed.admit(key, newUse)).toMatchObject({
      remaining: LIMIT - 4,
      idempotencyLock: { generation: 0 },
    });
    expect(await admission.admit(key)).toEqual({ kind: 'unauthorized' });
  });

  test('replicas before and after a change of the pepper both admit a key, whichever of the two stored its hash', async () => {
    const { key, programId } = await issueKey();
    await using before = gatewayWith(OLD, NEW);
    await using after = gatewayWith(NEW, OLD);
    for (const gateway of [before, after]) expect((await gateway.admit(key)).kind).toBe('admitted');
    await after.rehashKeys();
    // Both gateways have cached the key under the hash that was stored before.
    for (const gateway of [before, after]) {
      expect((await gateway.admit(key, newUse)).idempotencyLock).toBeDefined();
      expect((await gateway.admit(key)).kind).toBe('admitted');
      expect((await gateway.admit(key, newUse)).idempotencyLock).toBeDefined();
    }
    await before.rehashKeys();
    expect(await versionOf(programId)).toBe(2);
  });

  test('a revoked API key stays revoked during a change of the pepper', async () => {
    const { key, programId } = await issueKey();
    await using changed = gatewayWith(NEW, OLD);
    expect((await changed.admit(key)).kind).toBe('admitted');
    await database.query({ text: 'update api_keys set revoked_at = now() where program_id = $1' }, [programId]);
    await changed.rehashKeys();
    expect(await changed.admit(key, newUse)).toEqual({ kind: 'unauthorized' });
    expect(await changed.admit(key)).toEqual({ kind: 'unauthorized' });
  });

  test('every cause of a 401 queries the database once, with the same number of hashes', async () => {
    const asked: unknown[] = [];
    const counting: Database = {
      ...database,
      query: (statement, values) => {
        asked.push([statement.name, (values?.[0] as unknown[] | undefined)?.length]);
        return database.query(statement, values);
      },
    };
    await using changed = open(counting, LIMIT, ['test', 'live'], peppersOf(NEW, [OLD]));
    for (const key of [
      undefined,
      'nonsense',
      mintApiKey('test').key,
      (await issueKey('live', { status: 'draft' })).key,
    ]) {
      expect(await changed.admit(key)).toEqual({ kind: 'unauthorized' });
    }
    expect(asked).toEqual(Array.from({ length: 4 }, () => ['count_admissions', 2]));
  });
});

describe('admission without the database', () => {
  test('without the database a known key is admitted on its cached facts', async () => {
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

  test('without the database a key that this process revoked is not admitted', async () => {
    const { key } = await issueKey();
    const doomed = connect();
    await using lonely = open(doomed, 10);
    const before = await lonely.admit(key);
    if (before.kind !== 'admitted') throw new Error('expected to be admitted');
    const onItsWay = lonely.admit(key);
    lonely.revoke(before.principal.apiKeyId);
    expect((await onItsWay).kind).toBe('admitted');
    await doomed[Symbol.asyncDispose]();
    await expect(lonely.admit(key)).rejects.toThrow();
  });
});
