/**
 * The queue of fees to refund. The commit that ends an attempt adds the attempt's fee to the queue;
 * the commit that records the refund removes the fee.
 */

import type { Database, Queryable, Transaction } from '@laurel/postgres';
import type { Event } from '@laurel/proto/events';
import type { ContestServiceName } from '@laurel/values/ids';
import type { Environment } from '@laurel/values/tenant';
import { type AttemptStatus, afterRefund } from '../domain/attempt.ts';
import { isRoundReason, type RefundReason } from '../domain/refund-reason.ts';
import { environmentSql } from './attempt-windows.ts';

export type RefundDue = {
  readonly id: string;
  readonly feeGeneration: number;
  readonly reason: RefundReason;
  readonly environment: Environment;
};

/** A fee that was refunded to its player, and the instant at which the refund was recorded. */
export type FinishedRefund = { readonly attemptId: string; readonly reason: RefundReason; readonly at: Date };

/**
 * Returns the contest service's events of refunds, one per refund. Called in the transaction that
 * records the refunds, only with refunds that were not recorded before.
 */
export type RefundEvents = (on: Queryable, refunds: readonly FinishedRefund[]) => Promise<readonly Event[]>;

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
  /** Loads at most `limit` refunds, in the order of `nextRefundsSql`. */
  loadNext(database: Database, limit: number): Promise<readonly RefundDue[]>;
}

const INSERT = {
  text: `
insert into refunds_due (attempt_id, since, environment)
values ($1, $2, (select ${environmentSql('challenge')} from attempts a where a.id = $1))`,
};

/**
 * The query of the refunds that a run of the sweeper posts next: refunds of real money, oldest
 * first, and then refunds of play money. Each environment has its own index, so real money never
 * waits for play money, however many refunds of play money are due. `reason` is a column of the
 * queue (`d`) or of the attempt (`a`).
 */
export function nextRefundsSql(contestService: ContestServiceName, reason: string): string {
  return `
select a.id, a.fee_generation, ${reason}, ${environmentSql(contestService)} as environment
from (
  (select * from refunds_due where environment is distinct from 'test' order by since, attempt_id limit $1)
  union all
  (select * from refunds_due where environment = 'test' order by since, attempt_id limit $1)
) d
cross join lateral (select * from attempts one where one.id = d.attempt_id limit 1) a
order by d.environment is not distinct from 'test', d.since, d.attempt_id limit $1`;
}

const SELECT_NEXT = { name: 'refunds_next', text: nextRefundsSql('challenge', 'a.status') };

/** The columns of a queued refund, without its reason. */
export type DueRow = { id: string; fee_generation: number; environment: Environment };

// The statement locks all rows first, in order. If two transactions record the same refunds, the
// second one finds the queue's rows deleted, changes nothing and gets no ids back.
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
  // Only attempts that are ending should be queued. If another attempt ever is, the audit reports
  // it, and its fee is refunded as `expired`.
  async loadNext(database, limit) {
    const rows = await database.query<DueRow & { status: AttemptStatus }>(SELECT_NEXT, [limit]);
    return rows.map(({ id, fee_generation: feeGeneration, status, environment }) => ({
      id,
      feeGeneration,
      environment,
      reason: afterRefund(status) ?? 'expired',
    }));
  },
};

/**
 * Records posted refunds: `expiring -> expired`, `voiding -> voided`, and the fees leave the queue.
 * An attempt in any other state keeps its status. Returns the ids of the attempts whose fees left
 * the queue in this call, and no id whose refund was recorded before.
 */
export async function finishRefunds(tx: Transaction, attemptIds: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await tx.query<{ attempt_id: string }>(FINISH, [attemptIds]);
  return new Set(rows.map((row) => row.attempt_id));
}
