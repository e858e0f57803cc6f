/**
 * The developer of each program, as the gateway registered it. A program never changes its
 * developer.
 */
import type { Queryable } from '@laurel/postgres';

const INSERT = {
  name: 'programs_insert',
  text: `
insert into programs (id, developer_id)
select p.id, $1 from unnest($2::uuid[]) as p (id) order by p.id
on conflict (id) do nothing`,
};

const SELECT_OWNER = { name: 'programs_owner', text: 'select developer_id from programs where id = $1' };

export async function insertPrograms(on: Queryable, developerId: string, programIds: readonly string[]): Promise<void> {
  if (programIds.length > 0) await on.query(INSERT, [developerId, [...new Set(programIds)]]);
}

/** Null for a program that was never registered. */
export async function findDeveloperOf(on: Queryable, programId: string): Promise<string | null> {
  const [row] = await on.query<{ developer_id: string }>(SELECT_OWNER, [programId]);
  return row?.developer_id ?? null;
}
