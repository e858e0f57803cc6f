/**
 * The queue of refunds. Each row has the reason that the attempt's status does not state: how the
 * round ended.
 */

import { MAX_REFUNDS_WALKED, type RefundDue, type RefundQueue } from '@laurel/attempts';
import type { RefundReason } from '@laurel/attempts/domain';
import type { Queryable } from '@laurel/postgres';
import { cents } from '@laurel/values/money';
import type { Attempt, Environment, Tenant } from '../domain/tournament.ts';

/** The refund after which a page begins. */
export type RefundCursor = { readonly since: Date; readonly attemptId: string };

/** What the event of a returned fee needs. */
export type RefundedAttempt = Pick<Attempt, 'id' | 'roundId' | 'playerRef' | 'feeCents'> & { readonly tenant: Tenant };

const INSERT = { text: 'insert into refunds_due (attempt_id, since, reason) values ($1, $2, $3)' };

const SELECT_DUE = {
  text: `
select a.id, a.fee_generation, d.reason, r.environment
from (select * from refunds_due order by since, attempt_id limit ${MAX_REFUNDS_WALKED}) d
cross join lateral (select * from attempts one where one.id = d.attempt_id limit 1) a
cross join lateral (select * from rounds one where one.id = a.round_id limit 1) r
order by r.environment = 'test', d.since, d.attempt_id limit $1`,
};

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

const FIRST: RefundCursor = { since: new Date(0), attemptId: '00000000-0000-0000-0000-000000000000' };

export const refundQueue: RefundQueue = {
  async insert(tx, { attemptId, reason, since }) {
    await tx.query(INSERT, [attemptId, since, reason]);
  },
  async load(database, limit) {
    return (await database.query<DueRow>(SELECT_DUE, [limit])).map(toDue);
  },
};

/** The refunds of one round, oldest first, page by page. An empty page is the end. */
export async function loadRefundsOfRound(
  on: Queryable,
  roundId: string,
  after: RefundCursor | null,
  limit: number,
): Promise<readonly (RefundDue & { readonly cursor: RefundCursor })[]> {
  const { since, attemptId } = after ?? FIRST;
  const values = [roundId, since, attemptId, limit];
  const rows = await on.query<DueRow & { since: Date }>(SELECT_OF_ROUND, values);
  return rows.map((row) => ({ ...toDue(row), cursor: { since: row.since, attemptId: row.id } }));
}

type DueRow = { id: string; fee_generation: number; reason: RefundReason; environment: Environment };

function toDue({ id, fee_generation: feeGeneration, reason, environment }: DueRow): RefundDue {
  return { id, feeGeneration, reason, environment };
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
