/**
 * The operator's list of payouts, newest first.
 *
 * A list by account, program or environment is read in windows: each window is a bounded number of
 * rows of the whole list, over the index that orders it. So a page costs the same for an account
 * with few payouts among many, and no win has to write an index for these filters.
 *
 * Held payouts are few, and have an index of their own with the columns that the filters read. So a
 * window of held payouts skips all other payouts, and reads only matching rows from the table.
 */
import type { Database, Queryable } from '@laurel/postgres';
import { cutPage, type Position } from '@laurel/values/cursor';
import type { Environment } from '@laurel/values/tenant';
import type { Payout } from '../domain/payout-decision.ts';
import { PAYOUT_COLUMNS, type PayoutRow, payoutOf } from './payouts.ts';

/** A field that is null allows any value. */
export type PayoutFilter = {
  readonly status: Payout['status'] | null;
  readonly accountId: string | null;
  readonly programId: string | null;
  readonly environment: Environment | null;
};

/** `readTo` is where the next page begins; null once the list has ended. */
export type PayoutPage = { readonly payouts: readonly Payout[]; readonly readTo: Position | null };

type PageRequest = { readonly before: Position; readonly limit: number };

export const ROWS_OF_WINDOW = 1_000;

/** One page reads at most this many windows: 5,000 rows. */
export const MAX_WINDOWS_PER_PAGE = 5;

const NEWEST_FIRST = 'order by created_at desc, award_id desc';
const BEFORE = '(created_at, award_id) < ($1::timestamptz, $2::uuid)';

const LIST = {
  name: 'list_payouts',
  text: `select ${PAYOUT_COLUMNS} from payouts where ${BEFORE} ${NEWEST_FIRST} limit $3`,
};

/**
 * Each status has a statement of its own. PostgreSQL plans a statement once, and for a parameter it
 * assumes the usual status. For a rare status that plan reads every payout: measured 445 ms to find
 * that none of 1.5 million is held.
 */
const LIST_OF_PAID = { name: 'list_payouts_paid', text: payoutListSql('paid') };
const LIST_OF_HELD = { name: 'list_payouts_held', text: payoutListSql('held') };
const LIST_OF_DENIED = { name: 'list_payouts_denied', text: payoutListSql('denied') };
const LIST_BY_STATUS = { paid: LIST_OF_PAID, held: LIST_OF_HELD, denied: LIST_OF_DENIED };

/** Exported because a test reads its query plan. */
export function payoutListSql(status: Payout['status']): string {
  return `select ${PAYOUT_COLUMNS} from payouts where status = '${status}' and ${BEFORE} ${NEWEST_FIRST} limit $3`;
}

const MATCHES = `
        where ($4::uuid is null or account_id = $4) and ($5::uuid is null or program_id = $5)
          and ($6::text is null or environment = $6)
        ${NEWEST_FIRST} limit $3`;

const WINDOWS = {
  every_status: { columns: PAYOUT_COLUMNS, only: '', found: `select * from seen ${MATCHES}` },
  paid: { columns: PAYOUT_COLUMNS, only: "status = 'paid' and ", found: `select * from seen ${MATCHES}` },
  denied: { columns: PAYOUT_COLUMNS, only: "status = 'denied' and ", found: `select * from seen ${MATCHES}` },
  held: {
    columns: 'created_at, award_id, account_id, program_id, environment',
    only: "status = 'held' and ",
    found: `
      select whole.* from (select award_id from seen ${MATCHES}) as matching
      cross join lateral (
        select ${PAYOUT_COLUMNS} from payouts where payouts.award_id = matching.award_id limit 1
      ) as whole`,
  },
} as const;

/** Exported because a test reads its query plan. */
export function payoutWindowSql(of: keyof typeof WINDOWS): string {
  const { columns, only, found } = WINDOWS[of];
  return `
    with seen as materialized (
      select ${columns} from payouts where ${only}${BEFORE} ${NEWEST_FIRST} limit ${ROWS_OF_WINDOW}
    ), found as (
      ${found}
    )
    select last.created_at as last_created_at, last.award_id as last_award_id,
      (select count(*)::int from seen) as rows_seen, found.*
    from (select created_at, award_id from seen order by created_at, award_id limit 1) as last
    left join found on true
    order by found.created_at desc, found.award_id desc`;
}

const WINDOW_OF_ALL = { name: 'payouts_window', text: payoutWindowSql('every_status') };
const WINDOW_OF_PAID = { name: 'payouts_window_of_paid', text: payoutWindowSql('paid') };
const WINDOW_OF_HELD = { name: 'payouts_window_of_held', text: payoutWindowSql('held') };
const WINDOW_OF_DENIED = { name: 'payouts_window_of_denied', text: payoutWindowSql('denied') };
const WINDOW = { every_status: WINDOW_OF_ALL, paid: WINDOW_OF_PAID, held: WINDOW_OF_HELD, denied: WINDOW_OF_DENIED };

/**
 * A page of the payouts before a position. A page of a filtered list may be short, or empty,
 * although another page follows.
 */
export async function listPayouts(database: Database, filter: PayoutFilter, page: PageRequest): Promise<PayoutPage> {
  const { accountId, programId, environment } = filter;
  if (accountId === null && programId === null && environment === null) return listByStatus(database, filter, page);
  const payouts: Payout[] = [];
  let readTo: Position | null = page.before;
  for (
    let windows = 0;
    windows < MAX_WINDOWS_PER_PAGE && payouts.length < page.limit && readTo !== null;
    windows += 1
  ) {
    const window = { before: readTo, limit: page.limit - payouts.length };
    const read: PayoutPage = await loadWindow(database, filter, window);
    payouts.push(...read.payouts);
    readTo = read.readTo;
  }
  return { payouts, readTo };
}

async function listByStatus(
  database: Database,
  { status }: PayoutFilter,
  { before, limit }: PageRequest,
): Promise<PayoutPage> {
  // One payout more than requested shows whether there is another page.
  const values = [before.at, before.id, limit + 1];
  const rows = await database.query<PayoutRow>(status === null ? LIST : LIST_BY_STATUS[status], values);
  const { page, last } = cutPage(rows.map(payoutOf), limit);
  return { payouts: page, readTo: last === null ? null : positionOf(last) };
}

type WindowRow = { last_created_at: Date; last_award_id: string; rows_seen: number } & (PayoutRow | { award_id: null });

async function loadWindow(
  on: Queryable,
  { status, accountId, programId, environment }: PayoutFilter,
  { before, limit }: PageRequest,
): Promise<PayoutPage> {
  const values = [before.at, before.id, limit, accountId, programId, environment];
  const rows = await on.query<WindowRow>(WINDOW[status ?? 'every_status'], values);
  const [first] = rows;
  if (first === undefined) return { payouts: [], readTo: null };
  const payouts = rows.flatMap((row) => (row.award_id === null ? [] : [payoutOf(row)]));
  const last = payouts.at(-1);
  if (payouts.length === limit && last !== undefined) return { payouts, readTo: positionOf(last) };
  const isLastWindow = first.rows_seen < ROWS_OF_WINDOW;
  return { payouts, readTo: isLastWindow ? null : { at: first.last_created_at, id: first.last_award_id } };
}

function positionOf({ createdAt, awardId }: Payout): Position {
  return { at: createdAt, id: awardId };
}
