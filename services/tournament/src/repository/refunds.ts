/** The queue of refunds, with the reason that a status alone does not tell: how the round ended. */

import type { RefundDue, RefundQueue } from '@laurel/money-path';
import type { RefundReason } from '@laurel/money-path/domain';
import type { Queryable } from '@laurel/postgres';

/** Behind which refund a page begins. */
export type RefundCursor = { readonly since: Date; readonly attemptId: string };

const INSERT = { text: 'insert into refunds_due (attempt_id, since, reason) values ($1, $2, $3)' };

const SELECT_DUE = {
  text: `
select a.id, a.fee_generation, d.reason
from (select * from refunds_due order by since, attempt_id limit $1) d join attempts a on a.id = d.attempt_id
order by d.since, d.attempt_id`,
};

// The queue is walked in its order, and each row is asked for its round: while the refunds of a round are due they are most of it, and
// the round may have a hundred times as many attempts that owe nothing.
const SELECT_OF_ROUND = {
  text: `
select a.id, a.fee_generation, d.reason, d.since
from refunds_due d
cross join lateral (select * from attempts one where one.id = d.attempt_id limit 1) a
where a.round_id = $1 and (d.since, d.attempt_id) > ($2::timestamptz, $3::uuid)
order by d.since, d.attempt_id limit $4`,
};

const FIRST: RefundCursor = { since: new Date(0), attemptId: '00000000-0000-0000-0000-000000000000' };

export const refundQueue: RefundQueue = {
  async insert(tx, { attemptId, reason, since }) {
    await tx.query(INSERT, [attemptId, since, reason]);
  },
  async load(database, limit) {
    const rows = await database.query<{ id: string; fee_generation: number; reason: RefundReason }>(SELECT_DUE, [
      limit,
    ]);
    return rows.map((row) => ({ id: row.id, feeGeneration: row.fee_generation, reason: row.reason }));
  },
};

/** The refunds of one round, oldest first, page by page; an empty page is the end. */
export async function loadRefundsOfRound(
  on: Queryable,
  roundId: string,
  after: RefundCursor | null,
  limit: number,
): Promise<readonly (RefundDue & { readonly cursor: RefundCursor })[]> {
  const { since, attemptId } = after ?? FIRST;
  const rows = await on.query<{ id: string; fee_generation: number; reason: RefundReason; since: Date }>(
    SELECT_OF_ROUND,
    [roundId, since, attemptId, limit],
  );
  return rows.map((row) => ({
    id: row.id,
    feeGeneration: row.fee_generation,
    reason: row.reason,
    cursor: { since: row.since, attemptId: row.id },
  }));
}
