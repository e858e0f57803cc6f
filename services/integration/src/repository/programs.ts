/**
 * Programs, as the gateway registered them: each one's developer, and where outcomes may be
 * settled.
 */
import type { Queryable } from '@laurel/postgres';
import type { Environment } from '@laurel/values/tenant';

export type Program = {
  readonly id: string;
  /** Null for a program without a developer. */
  readonly developerId: string | null;
  readonly openEnvironments: readonly Environment[];
  /** Each change of the program raises it. */
  readonly version: bigint;
};

const UPSERT = {
  name: 'programs_upsert',
  text: `
insert into programs (id, developer_id, open_environments, version)
select $1::uuid, $2::uuid, $3::text[], $4::bigint
where not exists (select from programs where id = $1 and version >= $4)
on conflict (id) do update
set developer_id = excluded.developer_id, open_environments = excluded.open_environments, version = excluded.version
where programs.version < excluded.version`,
};

/**
 * A version that is not newer than the stored one changes nothing. The gateway repeats versions, so
 * such a call must also write nothing: a conflict alone would lock the row, and its commit would
 * wait for the disk.
 */
export async function upsertProgram(on: Queryable, program: Program): Promise<void> {
  await on.query(UPSERT, [program.id, program.developerId, program.openEnvironments, program.version]);
}
