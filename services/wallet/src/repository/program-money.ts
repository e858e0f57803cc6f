/**
 * The money of a program over a period. Each statement reads a bounded number of rows, however much
 * the program takes and pays.
 */

import type { Database, Statement } from '@laurel/postgres';
import { type Cents, cents } from '@laurel/values/money';
import type { ProgramName } from '../domain/program-limits.ts';

/** The fees of a program with more accounts, or with more fees in the period, are not summed. */
export const MAX_ACCOUNTS = 2_000;
const MAX_FEES = 10_000;
/** The most held payouts that are searched, newest first, over all programs. */
export const MAX_HELD_PAYOUTS = 10_000;

export type ProgramFees = { readonly feesCents: Cents; readonly refundsCents: Cents };

// No index leads from a program to its fees, because every charge would have to write it. So the
// statement finds the program's accounts, and each account's fees by an index.
const sumFeesStatement: Statement = {
  name: 'sum_program_fees',
  text: `
    with known as materialized (
      select program_accounts.account_id from program_accounts where program_accounts.program_id = $1 limit ${MAX_ACCOUNTS} + 1
    ),
    fee as materialized (
      select posted.id, posted.amount_cents
      from known
      cross join lateral (
        select ledger_accounts.id from ledger_accounts
        where ledger_accounts.account_id = known.account_id and ledger_accounts.environment = $2 limit 1
      ) as player
      cross join lateral (
        select transfers.id, transfers.amount_cents from transfers
        where transfers.player_ledger_id = player.id and transfers.program_id = $1
          and transfers.kind = 'fee' and transfers.state = 'posted' and transfers.created_at > $3
        offset 0
      ) as posted
      where (select count(*) from known) <= ${MAX_ACCOUNTS}
      limit ${MAX_FEES} + 1
    )
    select (select count(*) from known) <= ${MAX_ACCOUNTS} and count(*) <= ${MAX_FEES} as is_whole,
      coalesce(sum(fee.amount_cents), 0)::bigint as fees_cents,
      coalesce(sum(refund.amount_cents), 0)::bigint as refunds_cents
    from fee
    left join lateral (
      select transfers.amount_cents from transfers where transfers.kind = 'refund' and transfers.fee_transfer_id = fee.id limit 1
    ) as refund on true`,
};

/** The sums of the fees charged after `since` and of those returned; null if there are too many. */
export async function sumFees(
  database: Database,
  { programId, environment }: ProgramName,
  since: Date,
): Promise<ProgramFees | null> {
  const [row] = await database.query<{ is_whole: boolean; fees_cents: bigint; refunds_cents: bigint }>(
    sumFeesStatement,
    [programId, environment, since],
  );
  if (row === undefined || !row.is_whole) return null;
  return { feesCents: cents(row.fees_cents), refundsCents: cents(row.refunds_cents) };
}

const sumHeldStatement: Statement = {
  name: 'sum_program_held',
  text: `
    select coalesce(sum(held.amount_cents) filter (where held.program_id = $1 and held.environment = $2), 0)::bigint as held_cents
    from (
      select payouts.program_id, payouts.environment, payouts.amount_cents from payouts
      where payouts.status = 'held' and payouts.created_at > $3
      order by payouts.created_at desc, payouts.award_id desc limit ${MAX_HELD_PAYOUTS}
    ) as held`,
};

/** The payouts that were made after `since` and are held. */
export async function sumHeld(
  database: Database,
  { programId, environment }: ProgramName,
  since: Date,
): Promise<Cents> {
  const [row] = await database.query<{ held_cents: bigint }>(sumHeldStatement, [programId, environment, since]);
  return cents(row?.held_cents ?? 0n);
}
