/**
 * SQL for what programs charged an account in the last 24 hours. Fees charged by the release before
 * migration 0019 name no program, and do not count.
 */

import type { Database, Statement } from '@laurel/postgres';
import { type Cents, cents } from '@laurel/values/money';
import type { Environment } from '@laurel/values/tenant';
import { type ChargedFees, FEE_WINDOW_MS } from '../domain/fee-limit.ts';

/** Only fees posted after this instant count. */
export function feeWindowStart(now: Date): Date {
  return new Date(now.getTime() - FEE_WINDOW_MS);
}

/**
 * The lateral subqueries `program` and `allowed`. `allowed.limit_cents` is the program's limit for
 * the account `person`; null for none. The arguments are SQL expressions.
 */
export function feeLimitJoinsSql(of: { programId: string; environment: string; defaultCents: string }): string {
  return `left join lateral (
        select program_limits.fee_limit_cents from program_limits
        where program_limits.program_id = ${of.programId} and program_limits.environment = ${of.environment} limit 1
      ) as program on true
      cross join lateral (
        select least(
          coalesce(program.fee_limit_cents, case ${of.environment} when 'live' then ${of.defaultCents}::bigint end), person.fee_limit_cents
        ) as limit_cents
      ) as allowed`;
}

/**
 * A subquery of the window's fees, including refunded ones. It reads no rows if `allowed` has no
 * limit.
 */
export function chargedFeesSql(of: { ledgerId: string; programId: string; since: string }): string {
  return `select coalesce(sum(transfers.amount_cents), 0)::bigint as charged_cents from transfers
        where allowed.limit_cents is not null and ${isCounted(of)}`;
}

/** The subquery of chargedFeesSql, without the refunded fees. */
export function unrefundedFeesSql(of: { ledgerId: string; programId: string; since: string }): string {
  return `select coalesce(sum(transfers.amount_cents), 0)::bigint as charged_cents from transfers
        where allowed.limit_cents is not null and ${isCounted(of)}
          and not exists (
            select from transfers as refund where refund.kind = 'refund' and refund.fee_transfer_id = transfers.id
          )`;
}

function isCounted({ ledgerId, programId, since }: { ledgerId: string; programId: string; since: string }): string {
  return `transfers.player_ledger_id = ${ledgerId} and transfers.program_id = ${programId}
          and transfers.kind = 'fee' and transfers.state = 'posted' and transfers.created_at > ${since}`;
}

export type ChargedFeesRow = { limit_cents: bigint | null; charged_cents: bigint };

export function toChargedFees({ limit_cents, charged_cents }: ChargedFeesRow): ChargedFees {
  return { chargedCents: cents(charged_cents), limitCents: limit_cents === null ? null : cents(limit_cents) };
}

const listChargedFeesStatement: Statement = {
  name: 'list_charged_fees',
  text: `
    select transfers.program_id, transfers.environment, sum(transfers.amount_cents)::bigint as charged_cents
    from ledger_accounts
    cross join lateral (
      select * from transfers as fee
      where fee.player_ledger_id = ledger_accounts.id and fee.kind = 'fee' and fee.state = 'posted'
        and fee.program_id is not null and fee.created_at > $2
    ) as transfers
    where ledger_accounts.account_id = $1
      and not exists (
        select from transfers as refund where refund.kind = 'refund' and refund.fee_transfer_id = transfers.id
      )
    group by transfers.program_id, transfers.environment
    order by charged_cents desc, transfers.program_id
    limit $3`,
};

/** What one program charged an account. */
export type ProgramCharges = {
  readonly programId: string;
  readonly environment: Environment;
  readonly chargedCents: Cents;
};

/** What each program charged the account after `since`, without refunds, the largest sum first. */
export async function listChargedFees(
  database: Database,
  accountId: string,
  { since, limit }: { readonly since: Date; readonly limit: number },
): Promise<readonly ProgramCharges[]> {
  const rows = await database.query<{ program_id: string; environment: Environment; charged_cents: bigint }>(
    listChargedFeesStatement,
    [accountId, since, limit],
  );
  return rows.map((row) => ({
    programId: row.program_id,
    environment: row.environment,
    chargedCents: cents(row.charged_cents),
  }));
}
