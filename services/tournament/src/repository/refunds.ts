/**
 * The queue of refunds. Each row has the reason that the attempt's status does not state: how the
 * round ended.
 */

import { type DueRow, nextRefundsSql, type RefundDue, type RefundQueue } from '@laurel/attempts';
import type { RefundReason } from '@laurel/attempts/domain';
import type { Queryable } from '@laurel/postgres';
import { cents } from '@laurel/values/money';
import type { Attempt, Environment, Tenant } from '../domain/tournament.ts';

/** What the event of a returned fee needs. */
export type RefundedAttempt = Pick<Attempt, 'id' | 'roundId' | 'playerRef' | 'feeCents'> & { readonly tenant: Tenant };

/** A place in the queue, which is in the order of age. */
export type RefundPosition = { readonly since: Date; readonly attemptId: string };

/** Before all refunds. */
const FIRST_REFUND: RefundPosition = {
  since: new Date(0),
  attemptId: '00000000-0000-0000-0000-000000000000',
};

const INSERT = {
  text: `
insert into refunds_due (attempt_id, since, reason, environment)
values ($1, $2, $3, (select r.environment from attempts a join rounds r on r.id = a.round_id where a.id = $1))`,
};

const SELECT_NEXT = { name: 'refunds_next', text: nextRefundsSql('tournament', 'd.reason') };

// This statement scans the queue in its order, and checks the round of each row. While the refunds
// of a round are due, they are most of the queue; the round may have a hundred times as many
// attempts without a refund.
const SELECT_OF_ROUND = {
  text: `
select a.id, a.fee_generation, d.reason, d.since,
  (select r.environment from rounds r where r.id = a.round_id) as environment
from refunds_due d
cross join lateral (select * from attempts one where one.id = d.attempt_id limit 1) a
where a.round_id = $1 and (d.since, d.attempt_id) > ($2::timestamptz, $3::uuid)
order by d.since, d.attempt_id limit $4`,
};

const SELECT_REFUNDED = {
  name: 'attempts_refunded',
  text: `
select a.id, a.round_id, a.player_ref, a.fee_cents, r.program_id, r.environment
from attempts a join rounds r on r.id = a.round_id where a.id = any($1::uuid[])`,
};

export const refundQueue: RefundQueue = {
  async insert(tx, { attemptId, reason, since }) {
    await tx.query(INSERT, [attemptId, since, reason]);
  },
  async loadNext(database, limit) {
    return (await database.query<DueOfRoundRow>(SELECT_NEXT, [limit])).map(refundOf);
  },
};

type DueOfRoundRow = DueRow & { reason: RefundReason };

function refundOf({ id, fee_generation: feeGeneration, reason, environment }: DueOfRoundRow): RefundDue {
  return { id, feeGeneration, reason, environment };
}

/** The refunds of one round, oldest first, page by page. An empty page is the end. */
export async function loadRefundsOfRound(
  on: Queryable,
  roundId: string,
  after: RefundPosition | null,
  limit: number,
): Promise<readonly (RefundDue & { readonly cursor: RefundPosition })[]> {
  const { since, attemptId } = after ?? FIRST_REFUND;
  const values = [roundId, since, attemptId, limit];
  const rows = await on.query<DueOfRoundRow & { since: Date }>(SELECT_OF_ROUND, values);
  return rows.map((row) => ({ ...refundOf(row), cursor: { since: row.since, attemptId: row.id } }));
}

export async function loadRefundedAttempts(
  on: Queryable,
  ids: readonly string[],
): Promise<ReadonlyMap<string, RefundedAttempt>> {
  const rows = await on.query<{
    id: string;
    round_id: string;
    player_ref: string;
    fee_cents: bigint;
    program_id: string;
    environment: Environment;
  }>(SELECT_REFUNDED, [ids]);
  return new Map(
    rows.map((row) => [
      row.id,
      {
        id: row.id,
        roundId: row.round_id,
        playerRef: row.player_ref,
        feeCents: cents(row.fee_cents),
        tenant: { programId: row.program_id, environment: row.environment },
      },
    ]),
  );
}
