/**
 * Stores the fees to refund. The commit that ends an attempt queues its fee; the commit that
 * records the refund removes it.
 */

import type { Database, Queryable, Statement, Transaction } from '@laurel/postgres';
import type { Event } from '@laurel/proto/events';
import type { ContestServiceName } from '@laurel/values/ids';
import type { Environment } from '@laurel/values/tenant';
import { type AttemptStatus, afterRefund } from '../domain/attempt.ts';
import { isRoundReason, type RefundReason } from '../domain/refund-reason.ts';
import { CONTESTS } from './attempt-windows.ts';

export type RefundDue = {
  readonly id: string;
  readonly feeGeneration: number;
  readonly reason: RefundReason;
  readonly environment: Environment;
};

/** A fee that was refunded to its player, and when that was recorded. */
export type FinishedRefund = { readonly attemptId: string; readonly reason: RefundReason; readonly at: Date };

/**
 * Writes the contest service's events of refunds, one for each. Called inside the transaction that
 * records the refunds, with those that were not recorded before.
 */
export type RefundEvents = (on: Queryable, refunds: readonly FinishedRefund[]) => Promise<readonly Event[]>;

/** A place in the queue, which is in the order of age. */
export type RefundPosition = { readonly since: Date; readonly attemptId: string };

/** Before all refunds. */
export const FIRST_REFUND: RefundPosition = {
  since: new Date(0),
  attemptId: '00000000-0000-0000-0000-000000000000',
};

/** The next `rows` rows of the queue after a position, of both environments. */
export type RefundWindow = {
  readonly after: RefundPosition;
  readonly rows: number;
  /** The environment whose refunds are returned, at most `limit`. */
  readonly environment: Environment;
  readonly limit: number;
};

export type FoundRefunds = {
  /** The refunds are the oldest ones of the window, in order. */
  readonly due: readonly RefundDue[];
  /** The position of the last of them; null if there is none. */
  readonly last: RefundPosition | null;
  /** The last row of the window; null if the queue ends with it. */
  readonly readTo: RefundPosition | null;
};

/**
 * Where the contest service stores why a fee is refunded. `refundsByStatus` serves a service with
 * two reasons: the attempt's status distinguishes `expired` from `voided`. A service with more
 * reasons stores them in a column of refunds_due, and supplies its own two queries.
 */
export interface RefundQueue {
  insert(
    tx: Transaction,
    due: { readonly attemptId: string; readonly reason: RefundReason; readonly since: Date },
  ): Promise<void>;
  loadWindow(database: Database, window: RefundWindow): Promise<FoundRefunds>;
}

const INSERT = { text: 'insert into refunds_due (attempt_id, since) values ($1, $2)' };

/** The query of a window. `reason` is a column of the queue (`d`) or of the attempt (`a`). */
export function refundWindowSql(owner: ContestServiceName, reason: string): string {
  const { table, column } = CONTESTS[owner];
  return `
with walked as materialized (
  select d.* from refunds_due d where (d.since, d.attempt_id) > ($1::timestamptz, $2::uuid)
  order by d.since, d.attempt_id limit $3
), due as (
  select a.id, a.fee_generation, ${reason}, d.since
  from walked d
  cross join lateral (select * from attempts one where one.id = d.attempt_id limit 1) a
  cross join lateral (select environment from ${table} one where one.id = a.${column} limit 1) c
  where c.environment = $4
  order by d.since, d.attempt_id limit $5
)
select walk.since as walked_since, walk.attempt_id as walked_id, (select count(*)::int from walked) as rows_walked, due.*
from (select since, attempt_id from walked order by since desc, attempt_id desc limit 1) walk
left join due on true
order by due.since, due.id`;
}

const SELECT = { name: 'refunds_window', text: refundWindowSql('challenge', 'a.status') };

type WindowRow<Found> = { walked_since: Date; walked_id: string; rows_walked: number } & (Found | { id: null });

/** The columns of a refund of a window, beside its reason. */
export type DueRow = { id: string; fee_generation: number; since: Date };

/** Runs the query of a window. */
export async function loadRefundWindow<Found extends DueRow>(
  database: Database,
  statement: Statement,
  { after, rows: size, environment, limit }: RefundWindow,
  reasonOf: (row: Found) => RefundReason,
): Promise<FoundRefunds> {
  const values = [after.since, after.attemptId, size, environment, limit];
  const rows = await database.query<WindowRow<Found>>(statement, values);
  const found = rows.flatMap((row) => (row.id === null ? [] : [row]));
  const [first, last] = [rows[0], found.at(-1)];
  return {
    due: found.map((row) => ({
      id: row.id,
      feeGeneration: row.fee_generation,
      environment,
      reason: reasonOf(row),
    })),
    last: last === undefined ? null : { since: last.since, attemptId: last.id },
    readTo:
      first === undefined || first.rows_walked < size
        ? null
        : { since: first.walked_since, attemptId: first.walked_id },
  };
}

// All rows are locked first, in order. The second of two transactions finds the queue's rows
// deleted, changes nothing and gets no ids back.
const FINISH = {
  name: 'refunds_finish',
  text: `
with locked as materialized (
  select r.attempt_id from refunds_due r join attempts a on a.id = r.attempt_id
  where r.attempt_id = any($1::uuid[]) order by r.attempt_id for update of r for no key update of a
), done as (
  delete from refunds_due r using locked l where r.attempt_id = l.attempt_id returning r.attempt_id
), ended as (
  update attempts a set status = case a.status when 'expiring' then 'expired' else 'voided' end
  from locked l where a.id = l.attempt_id and a.status in ('expiring', 'voiding')
)
select attempt_id from done`,
};

export const refundsByStatus: RefundQueue = {
  async insert(tx, { attemptId, reason, since }) {
    if (isRoundReason(reason)) throw new Error(`the refund of attempt ${attemptId} cannot keep its reason`);
    await tx.query(INSERT, [attemptId, since]);
  },
  // Only attempts that are ending are queued. If that is ever violated, the audit reports it, and
  // the fee is still refunded.
  loadWindow: (database, window) =>
    loadRefundWindow<DueRow & { status: AttemptStatus }>(
      database,
      SELECT,
      window,
      ({ status }) => afterRefund(status) ?? 'expired',
    ),
};

/**
 * `expiring -> expired`, `voiding -> voided`: the refunds are posted. An attempt in any other state
 * only leaves the queue. Returns, once each, the attempts that left the queue with this call; a
 * refund that was recorded before is not among them.
 */
export async function finishRefunds(tx: Transaction, attemptIds: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await tx.query<{ attempt_id: string }>(FINISH, [attemptIds]);
  return new Set(rows.map((row) => row.attempt_id));
}
