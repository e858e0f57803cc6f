/**
 * The attempts of one account, newest first, at the contests of all programs or of some. The query
 * looks the account up in the index of players, once per contest. So a page costs the same whether
 * the account's attempts are old or new.
 *
 * A page reads a window of the account's attempts. The query finds the end of the window in the
 * index alone, so that it reads a bounded number of the table's rows, however many attempts the
 * account has.
 */

import type { Queryable } from '@laurel/postgres';
import type { ContestServiceName } from '@laurel/values/ids';
import type { Environment } from '@laurel/values/tenant';
import {
  type AttemptFilter,
  type AttemptListRow,
  type AttemptPosition,
  CONTEST_TABLES,
  type ReadAttempts,
  toListed,
} from './attempt-windows.ts';

/** The attempts of a window, plus all others from the millisecond in which the window ends. */
export const ROWS_OF_ACCOUNT_WINDOW = 500;

/** The query of the attempts of an account. Exported because a test reads the query plan. */
export function attemptsOfAccountSql(contestService: ContestServiceName): string {
  const { table, column } = CONTEST_TABLES[contestService];
  return `
with seen as materialized (
  select c.id, c.program_id, c.environment, a.created_at
  from ${table} c cross join lateral (
    select created_at from attempts
    where ${column} = c.id and account_id = $1 and created_at <= $2
    order by created_at desc limit ${ROWS_OF_ACCOUNT_WINDOW}
  ) a
  where ($6::uuid[] is null or c.program_id = any($6)) and ($7::text is null or c.environment = $7)
    and ($8::uuid is null or c.id = $8)
), last as materialized (
  select created_at from seen order by created_at desc offset ${ROWS_OF_ACCOUNT_WINDOW - 1} limit 1
), contest as materialized (
  select distinct id, program_id, environment from seen
  where created_at >= coalesce((select created_at from last), '-infinity')
), found as (
  select a.*, contest.program_id, contest.environment
  from contest cross join lateral (
    select id, ${column} as contest_id, account_id, player_ref, status, fee_cents, created_at, fee_generation, closed_reason
    from attempts
    where ${column} = contest.id and account_id = $1 and (created_at, id) < ($2::timestamptz, $3::uuid)
      and created_at >= coalesce((select created_at from last), '-infinity')
      and ($4::text is null or player_ref = $4) and status = any($5::text[])
    order by created_at desc, id desc limit $9
  ) a
  order by a.created_at desc, a.id desc limit $9
)
select read.last_created_at, f.*
from (select (select created_at from last) as last_created_at) as read
left join found f on true
order by f.created_at desc, f.id desc`;
}

const OF_CHALLENGES = { name: 'attempts_of_account', text: attemptsOfAccountSql('challenge') };
const OF_ROUNDS = { name: 'attempts_of_account', text: attemptsOfAccountSql('tournament') };
const SELECT_OF_ACCOUNT = { challenge: OF_CHALLENGES, tournament: OF_ROUNDS };

type Row = { readonly last_created_at: Date | null } & (
  | (AttemptListRow & { readonly program_id: string; readonly environment: Environment })
  | { readonly id: null }
);

/** An id below the id of every attempt. */
const FIRST_ID = '00000000-0000-0000-0000-000000000000';

export type PageOfAccount = {
  readonly accountId: string;
  /** Null selects all programs. */
  readonly programIds: readonly string[] | null;
  /** Null selects both environments. */
  readonly environment: Environment | null;
  /** Selects only attempts before this position. */
  readonly from: AttemptPosition;
  /** The most attempts that are returned. */
  readonly limit: number;
};

export async function loadAttemptsOfAccount(
  on: Queryable,
  contestService: ContestServiceName,
  filter: AttemptFilter,
  { accountId, programIds, environment, from, limit }: PageOfAccount,
): Promise<ReadAttempts> {
  const rows = await on.query<Row>(SELECT_OF_ACCOUNT[contestService], [
    accountId,
    from.createdAt,
    from.id,
    filter.playerRef,
    filter.statuses,
    programIds,
    environment,
    filter.contestId,
    limit,
  ]);
  const found = rows.flatMap((row) =>
    row.id === null ? [] : [toListed(row, { programId: row.program_id, environment: row.environment })],
  );
  const last = found.at(-1);
  if (found.length === limit && last !== undefined)
    return { found, readTo: { createdAt: last.createdAt, id: last.id } };
  const readTo = rows[0]?.last_created_at ?? null;
  return { found, readTo: readTo === null ? null : { createdAt: readTo, id: FIRST_ID } };
}
