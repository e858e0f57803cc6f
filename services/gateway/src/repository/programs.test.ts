import { createHash } from 'node:crypto';
import { isRefused, refused } from '@laurel/errors';
import { createDatabase, type Database, isUniqueViolation } from '@laurel/postgres';
import { createTestDatabase, isExactBound } from '@laurel/testing';
import { newId } from '@laurel/values/ids';
import { later } from '@laurel/values/instant';
import { MAX_EMAIL_CHARACTERS, MAX_NAME_CHARACTERS } from '@laurel/values/limits';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ApiKeyEnvironment } from '../domain/api-key.ts';
import { type ProgramFacts, REPEATED_APPROVAL_WINDOW_MS } from '../domain/program.ts';
import type { NewKey } from './api-keys.ts';
import { auditGateway } from './audit.ts';
import { insertDeveloper } from './developers.ts';
import { type AnnounceFacts, announcePrograms } from './program-facts.ts';
import {
  approveProgram,
  assignDeveloper,
  findProgram,
  findProgramFacts,
  insertProgram,
  listProgramIds,
  listPrograms,
  type Program,
  replaceLiveKey,
  replaceTestKey,
  updateProgram,
} from './programs.ts';

const NOW = new Date('2026-03-01T12:00:00.000Z');

let database: Database;
/** The announced facts, in order. */
let announced: ProgramFacts[] = [];
const announce = async (facts: ProgramFacts) => {
  announced.push(facts);
  return 'all' as const;
};
const cleanup = new AsyncDisposableStack();

beforeAll(async () => {
  const { url } = cleanup.use(await createTestDatabase({ migrations: new URL('../../migrations/', import.meta.url) }));
  database = cleanup.use(createDatabase({ url, maxConnections: 4, applicationName: 'programs-test' }));
});
afterAll(() => cleanup.disposeAsync());
beforeEach(() => {
  announced = [];
});

function storedKey(environment: ApiKeyEnvironment): NewKey {
  const id = newId();
  return {
    id,
    environment,
    hash: createHash('sha256').update(id).digest(),
    pepperVersion: 1,
    prefix: `sk_${environment}_abcd`,
    last4: 'wxyz',
  };
}

async function makeProgram(name = 'Arcade', id = newId()): Promise<Program> {
  const program = await insertProgram(database, { id, name, developerId: null }, storedKey('test'), announce);
  if (isRefused(program)) throw new Error(program.message);
  return program;
}

/** Approves the program as operator Ana, unless another operator is given. */
function approve(
  programId: string,
  options: { operator?: string; now?: Date; liveKey?: NewKey; announce?: AnnounceFacts } = {},
) {
  const { operator = 'ana', now = NOW, liveKey = storedKey('live') } = options;
  return approveProgram(database, { programId, liveKey, operator, now }, options.announce ?? announce);
}

describe('programs', () => {
  test('a new program is a draft with a test key', async () => {
    const program = await makeProgram();
    expect(program).toEqual({
      id: expect.any(String),
      name: 'Arcade',
      developerId: null,
      status: 'draft',
      deletionScheduled: false,
      createdAt: expect.any(Date),
      keys: [
        { environment: 'test', prefix: 'sk_test_abcd', last4: 'wxyz', createdAt: expect.any(Date), lastUsedAt: null },
      ],
    });
    expect(await findProgram(database, program.id)).toEqual(program);
  });

  test('a program’s developer must exist', async () => {
    const developer = { id: newId(), email: 'owner@example.com', passwordHash: 'argon2' };
    await insertDeveloper(database, developer);
    const owned = { id: newId(), name: 'Owned', developerId: developer.id };
    expect(await insertProgram(database, owned, storedKey('test'), announce)).toMatchObject({ name: 'Owned' });
    const orphan = { id: newId(), name: 'Orphan', developerId: newId() };
    expect(await insertProgram(database, orphan, storedKey('test'), announce)).toEqual(
      refused('not_found', 'There is no such developer.'),
    );
    expect(await findProgram(database, orphan.id)).toMatchObject({ code: 'not_found' });
  });

  test('a program gets its live key at approval', async () => {
    const program = await makeProgram();
    expect(await approve(program.id)).toMatchObject({
      program: { status: 'approved', keys: [{ environment: 'test' }, { environment: 'live' }] },
      revokedKeyIds: [],
    });
    await updateProgram(database, program.id, { status: 'suspended', deletionScheduled: null }, announce);
    expect(await approve(program.id)).toMatchObject({ code: 'conflict' });
    expect(await approve(newId())).toMatchObject({ code: 'not_found' });
  });

  test('ten concurrent approvals of a program by one operator leave one live key', async () => {
    const program = await makeProgram();
    const answers = await Promise.all(Array.from({ length: 10 }, () => approve(program.id)));
    expect(answers.filter(isRefused)).toEqual([]);
    expect(answers.flatMap((answer) => ('revokedKeyIds' in answer ? answer.revokedKeyIds : []))).toHaveLength(9);
    expect(await findProgram(database, program.id)).toMatchObject({
      keys: [{ environment: 'test' }, { environment: 'live' }],
    });
  });

  test('ten concurrent approvals of a program by ten operators issue one live key', async () => {
    const program = await makeProgram();
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) => approve(program.id, { operator: `operator ${index}` })),
    );
    expect(answers.filter((answer) => !isRefused(answer))).toHaveLength(1);
  });

  test('a repeated approval replaces the live key that was lost', async () => {
    const program = await makeProgram();
    const [lost, second] = [storedKey('live'), storedKey('live')];
    await approve(program.id, { liveKey: lost });
    announced = [];
    expect(await approve(program.id, { liveKey: second })).toMatchObject({ revokedKeyIds: [lost.id] });
    expect(await approve(program.id)).toMatchObject({ revokedKeyIds: [second.id] });
    expect(announced).toEqual([]);
    expect(await approve(program.id, { now: later(NOW, REPEATED_APPROVAL_WINDOW_MS) })).toMatchObject({
      code: 'conflict',
    });
    expect(await approve(program.id, { operator: 'bea' })).toMatchObject({ code: 'conflict' });
    await replaceLiveKey(database, program.id, storedKey('live'), NOW);
    expect(await approve(program.id)).toMatchObject({ code: 'conflict' });
  });

  test('a repeated approval does not replace a live key that was used', async () => {
    const traces = [
      'update api_keys set last_used_at = now() where id = $1',
      `insert into request_windows (subject, key_id, started_at, requests, last_request_at)
        select window_id, id, now(), 1, now() from api_keys where id = $1`,
      `insert into first_requests (program_id, environment, milestone, at)
        select program_id, environment, 'key_used', now() from api_keys where id = $1`,
    ];
    for (const text of traces) {
      const [program, liveKey] = [await makeProgram(), storedKey('live')];
      await approve(program.id, { liveKey });
      await database.query({ text }, [liveKey.id]);
      expect(await approve(program.id), text).toMatchObject({ code: 'conflict' });
    }
  });

  test('a closed program cannot be approved', async () => {
    const program = await makeProgram();
    await updateProgram(database, program.id, { status: 'closed', deletionScheduled: null }, announce);
    expect(await approve(program.id)).toMatchObject({ code: 'conflict' });
  });

  test('a change of a program sets only the fields that are given', async () => {
    const program = await makeProgram();
    expect(await updateProgram(database, program.id, { status: null, deletionScheduled: true }, announce)).toEqual({
      ...program,
      deletionScheduled: true,
    });
    expect(
      await updateProgram(database, program.id, { status: 'suspended', deletionScheduled: null }, announce),
    ).toEqual({
      ...program,
      status: 'suspended',
      deletionScheduled: true,
    });
    expect(
      await updateProgram(database, newId(), { status: 'closed', deletionScheduled: null }, announce),
    ).toMatchObject({
      code: 'not_found',
    });
  });

  test('programs are listed newest first, page by page', async () => {
    // The ids are later than those of the other tests, and have two different instants.
    const inSeconds = (seconds: number) => newId(new Date(Date.now() + seconds * 1_000));
    const older = await makeProgram('Older', inSeconds(1));
    const newer = await makeProgram('Newer', inSeconds(2));
    expect((await listPrograms(database, { beforeId: null, limit: 2 })).map(({ id }) => id)).toEqual([
      newer.id,
      older.id,
    ]);
    expect((await listPrograms(database, { beforeId: newer.id, limit: 1 })).map(({ id }) => id)).toEqual([older.id]);
  });

  test('a program shows when its keys were last used', async () => {
    const program = await makeProgram();
    await database.query({
      text: `insert into request_windows (subject, key_id, started_at, requests, last_request_at)
select window_id, id, now(), 1, '2026-01-02T03:04:05Z' from api_keys where program_id = '${program.id}'`,
    });
    expect(await findProgram(database, program.id)).toMatchObject({
      keys: [{ lastUsedAt: new Date('2026-01-02T03:04:05Z') }],
    });
  });
});

describe('facts of a program for the integration service', () => {
  const reinstate = { status: 'approved', deletionScheduled: false } as const;

  test('each change of a program announces its facts with a greater version', async () => {
    const { id } = await makeProgram();
    await approve(id);
    await updateProgram(database, id, { status: 'suspended', deletionScheduled: null }, announce);
    await updateProgram(database, id, reinstate, announce);
    await updateProgram(database, id, { status: null, deletionScheduled: true }, announce);
    await updateProgram(database, id, { status: 'closed', deletionScheduled: false }, announce);
    expect(announced.map(({ openEnvironments }) => openEnvironments)).toEqual([
      ['test'],
      ['test', 'live'],
      [],
      ['test', 'live'],
      [],
      [],
    ]);
    for (const facts of announced) expect(facts).toMatchObject({ programId: id, developerId: null });
    const versions = announced.map(({ version }) => version);
    for (const [index, version] of versions.slice(1).entries()) {
      expect(version).toBeGreaterThan(versions[index] ?? Number.NaN);
    }
    expect(await findProgramFacts(database, id)).toEqual(announced.at(-1));
    expect(await findProgramFacts(database, newId())).toMatchObject({ code: 'not_found' });
  });

  test('a concurrent change of a program waits until the facts of the first are announced and committed', async () => {
    const { id } = await makeProgram();
    announced = [];
    const handed = Promise.withResolvers<void>();
    const mayCommit = Promise.withResolvers<void>();
    const first = updateProgram(database, id, { status: 'suspended', deletionScheduled: null }, async (facts) => {
      announced.push(facts);
      handed.resolve();
      await mayCommit.promise;
      return 'all' as const;
    });
    await handed.promise;
    expect(await findProgram(database, id)).toMatchObject({ status: 'draft' });
    const second = updateProgram(database, id, reinstate, announce);
    const waiting = { text: `select from pg_stat_activity where wait_event_type = 'Lock' and query like '%programs%'` };
    await expect.poll(() => database.query(waiting)).toHaveLength(1);
    expect(announced).toHaveLength(1);
    mayCommit.resolve();
    await Promise.all([first, second]);
    expect(announced.map(({ openEnvironments }) => openEnvironments)).toEqual([[], ['test', 'live']]);
    expect(announced[1]?.version).toBeGreaterThan(announced[0]?.version ?? Number.NaN);
  });

  /** Ages the changes of these programs, or of all, by this many seconds. */
  async function ageChanges(seconds: number, ids: readonly string[] | null = null): Promise<void> {
    const text = `update programs set version = version - $1::bigint, announced_version = greatest(announced_version - $1::bigint, 0)
where $2::uuid[] is null or id = any($2::uuid[])`;
    await database.query({ text }, [seconds * 1_000_000, ids]);
    announced = [];
  }

  test('a program is suspended even if its facts cannot be announced at once', async () => {
    const { id } = await makeProgram();
    const outOfReach = async () => 'none' as const;
    await updateProgram(database, id, { status: 'suspended', deletionScheduled: null }, outOfReach);
    expect(await findProgram(database, id)).toMatchObject({ status: 'suspended' });
    await ageChanges(601);
    await announcePrograms(database, outOfReach, { repeats: true });
    await announcePrograms(database, announce, { repeats: true });
    expect(announced).toEqual([await findProgramFacts(database, id)]);
    expect(announced[0]?.openEnvironments).toEqual([]);
    await announcePrograms(database, announce, { repeats: true });
    expect(announced).toHaveLength(1);
  });

  test('announced facts are repeated for ten minutes after the change', async () => {
    await ageChanges(601);
    const [older, newer] = [await makeProgram(), await makeProgram()];
    const facts = () => Promise.all([older, newer].map(({ id }) => findProgramFacts(database, id)));
    await ageChanges(0);
    for (let runs = 0; runs < 2; runs += 1) await announcePrograms(database, announce, { repeats: true });
    expect(announced).toEqual([...(await facts()), ...(await facts())]);

    await ageChanges(500, [older.id, newer.id]);
    await announcePrograms(database, announce, { repeats: true });
    expect(announced).toEqual(await facts());

    await ageChanges(101, [older.id]);
    await announcePrograms(database, announce, { repeats: true });
    expect(announced).toEqual([await findProgramFacts(database, newer.id)]);
  });

  test('facts that were never announced come before repeated ones', async () => {
    await ageChanges(601);
    const repeated = await makeProgram();
    const changed = await makeProgram();
    const change = { status: 'suspended', deletionScheduled: null } as const;
    await updateProgram(database, changed.id, change, async () => 'none' as const);
    await ageChanges(0);
    const attempted: string[] = [];
    const outOfReach = async ({ programId }: ProgramFacts) => {
      attempted.push(programId);
      return 'none' as const;
    };
    await announcePrograms(database, outOfReach, { repeats: true });
    expect(attempted).toEqual([changed.id]);
    await announcePrograms(database, announce, { repeats: true });
    expect(announced.map(({ programId }) => programId)).toEqual([changed.id, repeated.id]);
  });

  test('a change of a program’s developer is announced after the commit', async () => {
    const developer = { id: newId(), email: 'next@example.com', passwordHash: 'argon2' };
    await insertDeveloper(database, developer);
    const { id } = await makeProgram();
    const stored = async () => {
      const program = await findProgram(database, id);
      return isRefused(program) ? program : program.developerId;
    };
    announced = [];
    const storedAtAnnouncement: unknown[] = [];
    const outOfReach = async () => {
      storedAtAnnouncement.push(await stored());
      return 'none' as const;
    };
    expect(await assignDeveloper(database, { programId: id, developerId: developer.id }, outOfReach)).toMatchObject({
      developerId: developer.id,
    });
    expect(storedAtAnnouncement).toEqual([developer.id]);
    await announcePrograms(database, announce, { repeats: false });
    expect(announced).toMatchObject([{ programId: id, developerId: developer.id }]);

    expect(await assignDeveloper(database, { programId: id, developerId: null }, announce)).toMatchObject({
      developerId: null,
    });
    expect(announced).toMatchObject([{ developerId: developer.id }, { developerId: null }]);
    expect(announced[1]?.version).toBeGreaterThan(announced[0]?.version ?? Number.NaN);
    for (const [programId, developerId] of [
      [id, newId()],
      [newId(), developer.id],
    ] as const) {
      expect(await assignDeveloper(database, { programId, developerId }, announce)).toMatchObject({
        code: 'not_found',
      });
    }
    expect(await stored()).toBeNull();
    expect(announced).toHaveLength(2);
  });

  test('the next change overwrites announced facts whose change was rolled back', async () => {
    const { id } = await makeProgram();
    let arrived: ProgramFacts | undefined;
    const fail = async (facts: ProgramFacts) => {
      arrived = facts;
      throw new Error('the connection to the database broke');
    };
    const change = { status: 'suspended', deletionScheduled: null } as const;
    await expect(updateProgram(database, id, change, fail)).rejects.toThrow('the connection to the database broke');
    await expect(approve(id, { announce: fail })).rejects.toThrow('broke');
    expect(await findProgram(database, id)).toMatchObject({ status: 'draft', keys: [{ environment: 'test' }] });
    await updateProgram(database, id, { status: null, deletionScheduled: false }, announce);
    expect(announced.at(-1)?.version).toBeGreaterThan(arrived?.version ?? Number.NaN);
    const orphan = { id: newId(), name: 'Orphan', developerId: null };
    await expect(insertProgram(database, orphan, storedKey('test'), fail)).rejects.toThrow('broke');
    expect(await findProgram(database, orphan.id)).toMatchObject({ code: 'not_found' });
  });
});

describe('programs of a developer', () => {
  async function makeOwned(email: string) {
    const developerId = newId();
    await insertDeveloper(database, { id: developerId, email, passwordHash: 'argon2' });
    const program = await insertProgram(
      database,
      { id: newId(), name: 'Owned', developerId },
      storedKey('test'),
      announce,
    );
    if (isRefused(program)) throw new Error(program.message);
    return { developerId, programId: program.id };
  }

  const NOW = new Date('2026-11-21T12:00:00.000Z');

  test('programs of a developer are listed only to that developer, page by page', async () => {
    const { developerId, programId } = await makeOwned('lists@example.com');
    await makeOwned('other@example.com');
    const second = await insertProgram(
      database,
      { id: newId(), name: 'Second', developerId },
      storedKey('test'),
      announce,
    );
    if (isRefused(second)) throw new Error(second.message);
    const list = async (beforeId: string | null, limit: number) =>
      (await listPrograms(database, { beforeId, limit, developerId })).map(({ id }) => id);
    expect(await list(null, 10)).toEqual([second.id, programId]);
    expect(await list(null, 1)).toEqual([second.id]);
    expect(await list(second.id, 10)).toEqual([programId]);
    const closed = { status: 'closed', deletionScheduled: null } as const;
    await updateProgram(database, second.id, closed, announce);
    const listIn = async (status: 'closed' | 'draft', limit = 10) =>
      (await listPrograms(database, { beforeId: null, limit, developerId, status })).map(({ id }) => id);
    expect([await listIn('closed'), await listIn('draft', 1)]).toEqual([[second.id], [programId]]);
    expect(await listProgramIds(database, developerId)).toEqual([programId, second.id]);
    expect(await listProgramIds(database, newId())).toEqual([]);
  });

  test('a new test key replaces the old one and leaves the live key unchanged', async () => {
    const owned = await makeOwned('replaces@example.com');
    await approve(owned.programId);
    const [first, second] = [storedKey('test'), storedKey('test')];
    await replaceTestKey(database, owned, first, NOW);
    await database.query(
      {
        text: `insert into request_windows (subject, key_id, started_at, requests, last_request_at)
select window_id, id, now(), 1, $2 from api_keys where id = $1`,
      },
      [first.id, NOW],
    );
    expect(await replaceTestKey(database, owned, second, NOW)).toEqual({ revokedKeyIds: [first.id] });
    const used = { text: 'select last_used_at from api_keys where id = $1' };
    expect(await database.query(used, [first.id])).toEqual([{ last_used_at: NOW }]);
    expect(await findProgram(database, owned.programId)).toMatchObject({
      keys: [{ environment: 'live' }, { environment: 'test' }],
    });
  });

  test('a program gets no test key from a developer who does not own it', async () => {
    const owned = await makeOwned('mine@example.com');
    const other = await makeOwned('theirs@example.com');
    const ownerless = await makeProgram();
    for (const programId of [other.programId, ownerless.id, newId()]) {
      const replaced = await replaceTestKey(database, { ...owned, programId }, storedKey('test'), NOW);
      expect(replaced).toEqual(refused('not_found', 'There is no such program.'));
    }
  });

  test('a program has exactly one working test key after 20 concurrent replacements', async () => {
    const owned = await makeOwned('parallel@example.com');
    const keys = Array.from({ length: 20 }, () => storedKey('test'));
    const replaced = await Promise.all(keys.map((key) => replaceTestKey(database, owned, key, NOW)));
    const revoked = replaced.flatMap((answer) => (isRefused(answer) ? [] : answer.revokedKeyIds));
    expect(new Set(revoked).size).toBe(20);
    const working = await database.query<{ id: string }>(
      {
        text: `select id from api_keys where program_id = $1 and revoked_at is null`,
      },
      [owned.programId],
    );
    expect(working).toHaveLength(1);
    expect(keys.flatMap(({ id }) => (revoked.includes(id) ? [] : [{ id }]))).toEqual(working);
  });
});

describe('database constraints', () => {
  test('the database never holds two working keys of one environment', async () => {
    const program = await makeProgram();
    const second = storedKey('test');
    const insert = database.query(
      {
        text: 'insert into api_keys (id, program_id, environment, key_hash, prefix, last4) values ($1, $2, $3, $4, $5, $6)',
      },
      [second.id, program.id, 'test', second.hash, second.prefix, second.last4],
    );
    await expect(insert).rejects.toSatisfy((error: unknown) => isUniqueViolation(error, 'api_keys_one_active'));
  });

  test('the database never holds one e-mail twice', async () => {
    const email = 'twice@example.com';
    expect(await insertDeveloper(database, { id: newId(), email, passwordHash: 'argon2' })).toMatchObject({ email });
    expect(await insertDeveloper(database, { id: newId(), email, passwordHash: 'argon2' })).toMatchObject({
      code: 'conflict',
    });
  });
});

describe('audit', () => {
  test('the audit finds a live key of a draft, and nothing in a sound database', async () => {
    const checks = await auditGateway(database);
    expect(checks.map(({ id, violations }) => [id, violations])).toEqual([
      ['completed_keys_have_a_response', 0n],
      ['operations_have_one_key', 0n],
      ['one_working_key_per_environment', 0n],
      ['live_keys_are_issued_at_approval', 0n],
    ]);

    const program = await makeProgram();
    await database.query({ text: `update api_keys set environment = 'live' where program_id = '${program.id}'` });
    const broken = (await auditGateway(database)).find(({ id }) => id === 'live_keys_are_issued_at_approval');
    expect(broken).toMatchObject({ violations: 1n, examples: [expect.any(String)] });
  });
});

test.each([
  ['programs_name_length', MAX_NAME_CHARACTERS, (length: number) => ({ name: '🎯'.repeat(length) })],
  ['developers_email_length', MAX_EMAIL_CHARACTERS, (length: number) => ({ email: '🎯'.repeat(length) })],
])('the constraint %s has the same bound as the rule', async (constraint, most, valuesOf) => {
  expect(await isExactBound(database, { constraint, most }, valuesOf)).toBe(true);
});
