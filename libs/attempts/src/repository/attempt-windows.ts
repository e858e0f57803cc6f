/**
 * Windows of attempts in the order of their creation, read through the index of the sweepers. A
 * window is a bounded number of rows of all tenants, so that a page costs no more for a tenant
 * whose attempts are few among many.
 */

import type { Queryable } from '@laurel/postgres';
import type { ContestServiceName } from '@laurel/values/ids';
import { cents } from '@laurel/values/money';
import type { Tenant } from '@laurel/values/tenant';
import type { AttemptStatus } from '../domain/attempt.ts';
import type { OwnedAttempt } from '../domain/owned-attempt.ts';

/** A place in the order by creation; attempts of one millisecond are ordered by id. */
export type AttemptPosition = { readonly createdAt: Date; readonly id: string };

/** A field that is null allows any value. */
export type AttemptFilter = {
  readonly contestId: string | null;
  readonly playerRef: string | null;
  readonly statuses: readonly AttemptStatus[];
};

export type WindowOfAttempts = {
  readonly order: 'newest_first' | 'oldest_first';
  /** Only attempts after this position in the list's order. */
  readonly from: AttemptPosition;
  /** Only attempts that were created at this instant or before. */
  readonly until: Date;
  /** The most attempts to return. */
  readonly limit: number;
};

export type ListedRow = OwnedAttempt & { readonly contestId: string; readonly tenant: Tenant };

/**
 * `readTo` is the last row of a window that was read whole, else the last attempt that was found;
 * null if no row is left.
 */
export type ReadAttempts = {
  readonly found: readonly ListedRow[];
  readonly readTo: AttemptPosition | null;
};

/** The most rows that a window reads through the index. */
export const ROWS_OF_WINDOW = 2_000;

export const CONTEST_TABLES = {
  challenge: { table: 'challenges', column: 'challenge_id' },
  tournament: { table: 'rounds', column: 'round_id' },
} as const;

/** The SQL of the environment of the attempt `a`. */
export function environmentSql(contestService: ContestServiceName): string {
  const { table, column } = CONTEST_TABLES[contestService];
  return `(select contest.environment from ${table} contest where contest.id = a.${column})`;
}

const ORDERS = {
  newest_first: { beyond: '<', direction: 'desc' },
  oldest_first: { beyond: '>', direction: 'asc' },
} as const;

/**
 * The query of the next window of attempts. It stops once it has found `$9` attempts of the tenant.
 * If it reads the whole window, it also returns the window's last row, whichever tenant that row
 * belongs to. Exported because a test reads the query plan.
 */
export function attemptWindowSql(contestService: ContestServiceName, order: WindowOfAttempts['order']): string {
  const { table, column } = CONTEST_TABLES[contestService];
  const { beyond, direction } = ORDERS[order];
  return `
select s.*, c.is_found is not null as is_found
from (
  select id, ${column} as contest_id, account_id, player_ref, status, fee_cents, created_at, fee_generation, closed_reason,
    row_number() over (order by created_at ${direction}, id ${direction}) as nth
  from attempts
  where (created_at, id) ${beyond} ($1::timestamptz, $2::uuid) and created_at <= $3
  order by created_at ${direction}, id ${direction} limit ${ROWS_OF_WINDOW}
) s
left join lateral (
  select true as is_found from ${table} one
  where one.id = s.contest_id and one.program_id = $4 and one.environment = $5 limit 1
) c on ($6::uuid is null or s.contest_id = $6) and ($7::text is null or s.player_ref = $7) and s.status = any($8::text[])
where c.is_found or s.nth = ${ROWS_OF_WINDOW}
order by s.created_at ${direction}, s.id ${direction} limit $9`;
}

const CHALLENGE_NEWEST = { name: 'attempts_newest_first', text: attemptWindowSql('challenge', 'newest_first') };
const CHALLENGE_OLDEST = { name: 'attempts_oldest_first', text: attemptWindowSql('challenge', 'oldest_first') };
const TOURNAMENT_NEWEST = { name: 'attempts_newest_first', text: attemptWindowSql('tournament', 'newest_first') };
const TOURNAMENT_OLDEST = { name: 'attempts_oldest_first', text: attemptWindowSql('tournament', 'oldest_first') };
const SELECT_WINDOW = {
  challenge: { newest_first: CHALLENGE_NEWEST, oldest_first: CHALLENGE_OLDEST },
  tournament: { newest_first: TOURNAMENT_NEWEST, oldest_first: TOURNAMENT_OLDEST },
};

type WindowRow = AttemptListRow & { nth: bigint; is_found: boolean };

/** An attempt as a list reads it. */
export type AttemptListRow = {
  id: string;
  contest_id: string;
  account_id: string | null;
  player_ref: string;
  status: AttemptStatus;
  fee_cents: bigint;
  created_at: Date;
  fee_generation: number;
  closed_reason: string | null;
};

/** Loads the tenant's attempts from the next window, which spans all tenants. */
export async function loadWindow(
  on: Queryable,
  contestService: ContestServiceName,
  tenant: Tenant,
  filter: AttemptFilter,
  { order, from, until, limit }: WindowOfAttempts,
): Promise<ReadAttempts> {
  const rows = await on.query<WindowRow>(SELECT_WINDOW[contestService][order], [
    from.createdAt,
    from.id,
    until,
    tenant.programId,
    tenant.environment,
    filter.contestId,
    filter.playerRef,
    filter.statuses,
    limit,
  ]);
  const found = rows.flatMap((row) => (row.is_found ? [toListed(row, tenant)] : []));
  const last = rows.at(-1);
  const hasMore = last !== undefined && (found.length === limit || last.nth === BigInt(ROWS_OF_WINDOW));
  return { found, readTo: hasMore ? { createdAt: last.created_at, id: last.id } : null };
}

export function toListed(row: AttemptListRow, tenant: Tenant): ListedRow {
  return {
    id: row.id,
    contestId: row.contest_id,
    tenant,
    accountId: row.account_id,
    playerRef: row.player_ref,
    status: row.status,
    feeCents: cents(row.fee_cents),
    createdAt: row.created_at,
    feeGeneration: row.fee_generation,
    closedReason: row.closed_reason,
  };
}
