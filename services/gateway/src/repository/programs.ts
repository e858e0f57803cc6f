import { isRefused, type Refused, refused } from '@laurel/errors';
import type { Database, Transaction } from '@laurel/postgres';
import type { ApiKeyEnvironment } from '../domain/api-key.ts';
import { decideApproval, decideLiveKeyReplacement, type ProgramFacts, type ProgramStatus } from '../domain/program.ts';
import { failpoint } from '../failpoints.ts';
import { hadKey, hasKey, insertKey, type NewKey, revokeKeys } from './api-keys.ts';
import { findApproval, insertApproval, updateApproval } from './approvals.ts';
import { noSuchDeveloper } from './developers.ts';
import {
  type AnnounceFacts,
  announceBeforeCommit,
  announceChange,
  FACTS_COLUMNS,
  type FactsRow,
  factsOf,
} from './program-facts.ts';

export type Program = {
  readonly id: string;
  readonly name: string;
  /** Null for a program that no developer sees. */
  readonly developerId: string | null;
  readonly status: ProgramStatus;
  readonly deletionScheduled: boolean;
  readonly createdAt: Date;
  /** The unrevoked keys: at most one for each environment. */
  readonly keys: readonly ProgramKey[];
};

export type ProgramKey = {
  readonly environment: ApiKeyEnvironment;
  readonly prefix: string;
  readonly last4: string;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
};

/** Creates a draft program with its test key. Refuses: not_found (no such developer). */
export async function insertProgram(
  database: Database,
  program: { readonly id: string; readonly name: string; readonly developerId: string | null },
  testKey: NewKey,
  announce: AnnounceFacts,
): Promise<Program | Refused> {
  return database.transaction(async (transaction) => {
    if (program.developerId !== null) {
      const developers = await transaction.query(LOCK_DEVELOPER, [program.developerId]);
      if (developers.length === 0) return noSuchDeveloper();
    }
    const [inserted] = await transaction.query<FactsRow>(INSERT, [program.id, program.name, program.developerId]);
    await insertKey(transaction, program.id, testKey);
    await announceBeforeCommit(transaction, factsOf(inserted), announce);
    return load(transaction, program.id);
  });
}

const LOCK_DEVELOPER = { name: 'lock_developer', text: 'select 1 from developers where id = $1 for key share' };
const NOW_IN_MICROSECONDS = '(extract(epoch from clock_timestamp()) * 1000000)::bigint';

const INSERT = {
  name: 'insert_program',
  text: `insert into programs (id, name, developer_id, version) values ($1, $2, $3, ${NOW_IN_MICROSECONDS})
returning ${FACTS_COLUMNS}`,
};

/** What other services must know of a program. Refuses: not_found. */
export async function findProgramFacts(database: Database, programId: string): Promise<ProgramFacts | Refused> {
  const [row] = await database.query<FactsRow>(SELECT_FACTS, [programId]);
  return row === undefined ? noSuchProgram() : factsOf(row);
}

const SELECT_FACTS = { name: 'select_program_facts', text: `select ${FACTS_COLUMNS} from programs where id = $1` };

/**
 * Approves a program and stores its live key. A repetition that domain/program.ts allows replaces
 * that key. Refuses: not_found, conflict (approved before, closed).
 */
export async function approveProgram(
  database: Database,
  { programId, liveKey, ...by }: NewApproval,
  announce: AnnounceFacts,
): Promise<ApprovedProgram | Refused> {
  return database.transaction(async (transaction) => {
    const [program] = await transaction.query<{ status: ProgramStatus }>(LOCK, [programId]);
    if (program === undefined) return noSuchProgram();
    const hadLiveKey = await hadKey(transaction, programId, 'live');
    const approval = hadLiveKey ? await findApproval(transaction, programId) : null;
    const decision = decideApproval({ status: program.status, hadLiveKey, approval }, by);
    if (isRefused(decision)) return decision;
    if (decision.kind === 'repeated') {
      const revokedKeyIds = await revokeKeys(transaction, programId, 'live', by.now);
      await insertKey(transaction, programId, liveKey);
      await updateApproval(transaction, programId, liveKey.id);
      return { program: await load(transaction, programId), revokedKeyIds };
    }
    const [approved] = await transaction.query<FactsRow>(UPDATE, [programId, 'approved', null]);
    await insertKey(transaction, programId, liveKey);
    await insertApproval(transaction, { programId, apiKeyId: liveKey.id, ...by });
    await announceBeforeCommit(transaction, factsOf(approved), announce);
    return { program: await load(transaction, programId), revokedKeyIds: [] };
  });
}

type NewApproval = {
  readonly programId: string;
  readonly liveKey: NewKey;
  readonly operator: string;
  readonly now: Date;
};

type ApprovedProgram = ReplacedKey & { readonly program: Program };

const LOCK = { name: 'lock_program', text: 'select status from programs where id = $1 for no key update' };

/**
 * Replaces the test key; the old one stops with the commit. Replacements for one program run one
 * after the other, so that the key of the last one works. Refuses: not_found (the program is not
 * the developer's).
 */
export async function replaceTestKey(
  database: Database,
  program: { readonly programId: string; readonly developerId: string },
  testKey: NewKey,
  now: Date,
): Promise<ReplacedKey | Refused> {
  return database.transaction(async (transaction) => {
    const owned = await transaction.query(LOCK_OWNED, [program.programId, program.developerId]);
    if (owned.length === 0) return noSuchProgram();
    const revokedKeyIds = await revokeKeys(transaction, program.programId, 'test', now);
    await insertKey(transaction, program.programId, testKey);
    return { revokedKeyIds };
  });
}

type ReplacedKey = { readonly revokedKeyIds: readonly string[] };

const LOCK_OWNED = {
  name: 'lock_program_of_developer',
  text: 'select from programs where id = $1 and developer_id = $2 for no key update',
};

/**
 * Replaces the live key; the old one stops with the commit. Replacements run one after the other.
 * Refuses: not_found, conflict (the program is not approved, or has no live key).
 */
export async function replaceLiveKey(
  database: Database,
  programId: string,
  liveKey: NewKey,
  now: Date,
): Promise<ReplacedKey | Refused> {
  return database.transaction(async (transaction) => {
    const [program] = await transaction.query<{ status: ProgramStatus }>(LOCK, [programId]);
    if (program === undefined) return noSuchProgram();
    const hasLiveKey = await hasKey(transaction, programId, 'live');
    const decision = decideLiveKeyReplacement({ status: program.status, hasLiveKey });
    if (isRefused(decision)) return decision;
    const revokedKeyIds = await revokeKeys(transaction, programId, 'live', now);
    await insertKey(transaction, programId, liveKey);
    return { revokedKeyIds };
  });
}

/** Changes the given fields; null leaves a field unchanged. Refuses: not_found. */
export async function updateProgram(
  database: Database,
  programId: string,
  changes: { readonly status: ProgramStatus | null; readonly deletionScheduled: boolean | null },
  announce: AnnounceFacts,
): Promise<Program | Refused> {
  return database.transaction(async (transaction) => {
    const values = [programId, changes.status, changes.deletionScheduled];
    const [updated] = await transaction.query<FactsRow>(UPDATE, values);
    if (updated === undefined) return noSuchProgram();
    await announceBeforeCommit(transaction, factsOf(updated), announce);
    return load(transaction, programId);
  });
}

const UPDATE = {
  name: 'update_program',
  text: `update programs
set status = coalesce($2::text, status), deletion_scheduled = coalesce($3::boolean, deletion_scheduled),
  version = greatest(version + 1, ${NOW_IN_MICROSECONDS})
where id = $1
returning ${FACTS_COLUMNS}`,
};

/**
 * Gives the program to another developer, or to none. With the commit, the program disappears from
 * the portal of the previous developer. The announcement after the commit makes other services stop
 * serving that developer. A repeated call announces again. Refuses: not_found (no such program or
 * developer).
 */
export async function assignDeveloper(
  database: Database,
  { programId, developerId }: { readonly programId: string; readonly developerId: string | null },
  announce: AnnounceFacts,
): Promise<Program | Refused> {
  const assigned = await database.transaction(async (transaction) => {
    if (developerId !== null) {
      const developers = await transaction.query(LOCK_DEVELOPER, [developerId]);
      if (developers.length === 0) return noSuchDeveloper();
    }
    const updated = await transaction.query(UPDATE_DEVELOPER, [programId, developerId]);
    return updated.length === 0 ? noSuchProgram() : null;
  });
  if (assigned !== null) return assigned;
  await failpoint('gateway.developer.after-commit');
  await announceChange(database, programId, announce);
  await failpoint('gateway.developer.after-announcement');
  return findProgram(database, programId);
}

const UPDATE_DEVELOPER = {
  name: 'update_developer_of_program',
  text: `update programs set developer_id = $2, version = greatest(version + 1, ${NOW_IN_MICROSECONDS}) where id = $1 returning 1`,
};

/** Returns one program. Refuses: not_found. */
export async function findProgram(database: Database, programId: string): Promise<Program | Refused> {
  return toPrograms(await database.query<Row>(SELECT_ONE, [programId]))[0] ?? noSuchProgram();
}

/** One program of a developer. Refuses: not_found, also for the program of another developer. */
export async function findProgramOf(
  database: Database,
  { programId, developerId }: { readonly programId: string; readonly developerId: string },
): Promise<Program | Refused> {
  return toPrograms(await database.query<Row>(SELECT_ONE_OF_DEVELOPER, [programId, developerId]))[0] ?? noSuchProgram();
}

/**
 * Lists programs, newest first, from below a program's id (ids sort by time); null starts at the
 * newest. With a developer or a status, lists only those.
 */
export async function listPrograms(
  database: Database,
  page: {
    readonly beforeId: string | null;
    readonly limit: number;
    readonly developerId?: string | undefined;
    readonly status?: ProgramStatus | undefined;
  },
): Promise<Program[]> {
  const { beforeId, limit, developerId, status = null } = page;
  return toPrograms(
    developerId === undefined
      ? await database.query<Row>(SELECT_PAGE, [beforeId, limit, status])
      : await database.query<Row>(SELECT_PAGE_OF_DEVELOPER, [beforeId, limit, status, developerId]),
  );
}

/** The ids of all programs of a developer. */
export async function listProgramIds(database: Database, developerId: string): Promise<string[]> {
  const rows = await database.query<{ id: string }>(SELECT_IDS, [developerId]);
  return rows.map(({ id }) => id);
}

const SELECT_IDS = {
  name: 'select_program_ids_of_developer',
  text: 'select id from programs where developer_id = $1 order by id',
};

/** Returns the names of the programs that exist, by id. */
export async function findProgramNames(
  database: Database,
  programIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await database.query<{ id: string; name: string }>(SELECT_NAMES, [programIds]);
  return new Map(rows.map(({ id, name }) => [id, name]));
}

const SELECT_NAMES = {
  name: 'select_program_names',
  text: `select known.id, known.name from unnest($1::uuid[]) as wanted (id)
cross join lateral (select id, name from programs where programs.id = wanted.id limit 1) as known`,
};

async function load(transaction: Transaction, programId: string): Promise<Program> {
  const [program] = toPrograms(await transaction.query<Row>(SELECT_ONE, [programId]));
  if (program === undefined) throw new Error(`program ${programId} vanished inside its own transaction`);
  return program;
}

function noSuchProgram(): Refused {
  return refused('not_found', 'There is no such program.');
}

const COLUMNS = `p.id, p.name, p.developer_id, p.status, p.deletion_scheduled, p.created_at,
  k.environment, k.prefix, k.last4, k.created_at as key_created_at,
  greatest(k.last_used_at, w.last_request_at) as last_used_at`;

const SELECT_ONE = { name: 'select_program', text: oneOf('p.id = $1') };

const SELECT_ONE_OF_DEVELOPER = {
  name: 'select_program_of_developer',
  text: oneOf('p.id = $1 and p.developer_id = $2'),
};

function oneOf(condition: string): string {
  return `select ${COLUMNS}
from programs p
left join api_keys k on k.program_id = p.id and k.revoked_at is null
left join request_windows w on w.subject = k.window_id and w.key_id = k.id
where ${condition}
order by k.created_at, k.id`;
}

const SELECT_PAGE = { name: 'select_programs', text: pageOf('true') };

const SELECT_PAGE_OF_DEVELOPER = { name: 'select_programs_of_developer', text: pageOf('developer_id = $4') };

function pageOf(condition: string): string {
  return `select ${COLUMNS}
from (
  select * from programs
  where ${condition} and ($1::uuid is null or id < $1) and ($3::text is null or status = $3)
  order by id desc limit $2
) p
left join api_keys k on k.program_id = p.id and k.revoked_at is null
left join request_windows w on w.subject = k.window_id and w.key_id = k.id
order by p.id desc, k.created_at, k.id`;
}

type Row = {
  id: string;
  name: string;
  developer_id: string | null;
  status: ProgramStatus;
  deletion_scheduled: boolean;
  created_at: Date;
} & (
  | { environment: ApiKeyEnvironment; prefix: string; last4: string; key_created_at: Date; last_used_at: Date | null }
  | { environment: null }
);

/** Takes one row per key, with the rows of a program together. */
function toPrograms(rows: readonly Row[]): Program[] {
  const programs = new Map<string, Program & { keys: ProgramKey[] }>();
  for (const row of rows) {
    let program = programs.get(row.id);
    if (program === undefined) {
      program = {
        id: row.id,
        name: row.name,
        developerId: row.developer_id,
        status: row.status,
        deletionScheduled: row.deletion_scheduled,
        createdAt: row.created_at,
        keys: [],
      };
      programs.set(row.id, program);
    }
    if (row.environment === null) continue;
    program.keys.push({
      environment: row.environment,
      prefix: row.prefix,
      last4: row.last4,
      createdAt: row.key_created_at,
      lastUsedAt: row.last_used_at,
    });
  }
  return [...programs.values()];
}
