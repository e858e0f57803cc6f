/**
 * The developer of each program, as the gateway registered it. Endpoints of another developer get
 * nothing of the program.
 */
import type { Queryable } from '@laurel/postgres';

export type Program = {
  readonly id: string;
  /** Null for a program without a developer. */
  readonly developerId: string | null;
  /** Each change of the program raises it. */
  readonly version: bigint;
};

const INSERT = {
  name: 'programs_insert',
  text: `
insert into programs (id, developer_id)
select p.id, $1 from unnest($2::uuid[]) as p (id) order by p.id
on conflict (id) do nothing`,
};

const UPSERT = {
  name: 'programs_upsert',
  text: `
insert into programs (id, developer_id, version)
select $1::uuid, $2::uuid, $3::bigint
where not exists (select from programs where id = $1 and version >= $3)
on conflict (id) do update
set developer_id = excluded.developer_id, version = excluded.version
where programs.version < excluded.version`,
};

const SELECT_OWNER = { name: 'programs_owner', text: 'select developer_id from programs where id = $1' };

/**
 * The SQL condition that the delivery's program still belongs to the endpoint's developer. It holds
 * for a test delivery, which has no program.
 */
export function isStillOfDeveloperSql(delivery: string, endpoint: string): string {
  return `not exists (
    select from programs p
    where p.id = ${delivery}.program_id and p.developer_id is distinct from ${endpoint}.developer_id
  )`;
}

/** Registers programs that have no row yet; changes no other. */
export async function insertPrograms(on: Queryable, developerId: string, programIds: readonly string[]): Promise<void> {
  if (programIds.length > 0) await on.query(INSERT, [developerId, [...new Set(programIds)]]);
}

/**
 * A version that is not newer than the stored one changes nothing. The gateway repeats versions, so
 * such a call must also write nothing: a conflict alone would lock the row, and its commit would
 * wait for the disk.
 */
export async function upsertProgram(on: Queryable, program: Program): Promise<void> {
  await on.query(UPSERT, [program.id, program.developerId, program.version]);
}

/** The developer of a program; null if the program has none, or was never registered. */
export async function findDeveloperOf(on: Queryable, programId: string): Promise<string | null> {
  const [row] = await on.query<{ developer_id: string | null }>(SELECT_OWNER, [programId]);
  return row?.developer_id ?? null;
}
