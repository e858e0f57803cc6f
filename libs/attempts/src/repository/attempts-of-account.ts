/**
 * The attempts of one account, newest first, at every contest or at those of one tenant. One
 * look-up in the index of players for each contest finds them: a page costs as much for an account
 * whose attempts are old as for one that plays now.
 */

import type { Queryable } from '@laurel/postgres';
import type { ContestServiceName } from '@laurel/values/ids';
import type { Environment, Tenant } from '@laurel/values/tenant';
import {
  type AttemptFilter,
  type AttemptPosition,
  CONTESTS,
  type FoundRow,
  type ReadAttempts,
  toListed,
} from './attempt-windows.ts';

/** Exported because a test reads its query plan. */
export function attemptsOfAccountSql(owner: ContestServiceName): string {
  const { table, column } = CONTESTS[owner];
  return `
select a.*, c.program_id, c.environment
from ${table} c cross join lateral (
  select id, ${column} as contest_id, account_id, player_ref, status, fee_cents, created_at, fee_generation, closed_reason
  from attempts
  where ${column} = c.id and account_id = $1 and (created_at, id) < ($2::timestamptz, $3::uuid)
    and ($4::text is null or player_ref = $4) and status = any($5::text[])
  order by created_at desc, id desc limit $9
) a
where ($6::uuid is null or c.program_id = $6) and ($7::text is null or c.environment = $7)
  and ($8::uuid is null or c.id = $8)
order by a.created_at desc, a.id desc limit $9`;
}

const OF_CHALLENGES = { name: 'attempts_of_account', text: attemptsOfAccountSql('challenge') };
const OF_ROUNDS = { name: 'attempts_of_account', text: attemptsOfAccountSql('tournament') };
const SELECT_OF_ACCOUNT = { challenge: OF_CHALLENGES, tournament: OF_ROUNDS };

type Row = FoundRow & { readonly program_id: string; readonly environment: Environment };

export type PageOfAccount = {
  readonly accountId: string;
  /** Null for every tenant. */
  readonly tenant: Tenant | null;
  /** Only attempts before this position. */
  readonly from: AttemptPosition;
  /** The most attempts that are returned. */
  readonly limit: number;
};

export async function loadOfAccount(
  on: Queryable,
  owner: ContestServiceName,
  filter: AttemptFilter,
  { accountId, tenant, from, limit }: PageOfAccount,
): Promise<ReadAttempts> {
  const rows = await on.query<Row>(SELECT_OF_ACCOUNT[owner], [
    accountId,
    from.createdAt,
    from.id,
    filter.playerRef,
    filter.statuses,
    tenant?.programId ?? null,
    tenant?.environment ?? null,
    filter.contestId,
    limit,
  ]);
  const found = rows.map((row) => toListed(row, { programId: row.program_id, environment: row.environment }));
  const last = found.at(-1);
  const isFull = found.length === limit && last !== undefined;
  return { found, readTo: isFull ? { createdAt: last.createdAt, id: last.id } : null };
}
