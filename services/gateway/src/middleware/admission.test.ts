import { randomBytes, randomUUID } from 'node:crypto';
import { createDatabase, type Database } from '@laurel/postgres';
import { createLogger } from '@laurel/service';
import { createTestDatabase } from '@laurel/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hashKey, type KeyEnvironment, mintKey } from '../domain/api-key.ts';
import { recordKeyUse } from '../repository/admissions.ts';
import { type Admission, createAdmission, type Verdict } from './admission.ts';

const PEPPER = randomBytes(32);
const LIMIT = 300;
/** So long that no test ever meets the end of a window by chance. */
const WINDOW_MS = 365 * 24 * 3_600_000;

const logger = createLogger({ service: 'gateway', level: 'silent' });
const stack = new AsyncDisposableStack();
let url: string;
let database: Database;
let admission: Admission;
let replica: Admission;

const connect = () => createDatabase({ url, maxConnections: 4, applicationName: 'test' });
const open = (over: Database, limit = LIMIT, acceptedEnvironments: readonly KeyEnvironment[] = ['test', 'live']) =>
  createAdmission({ database: over, pepper: PEPPER, acceptedEnvironments, limit, logger, windowMs: WINDOW_MS });

beforeAll(async () => {
  ({ url } = stack.use(await createTestDatabase({ migrations: new URL('../../migrations/', import.meta.url) })));
  database = stack.use(connect());
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
});
