/**
 * The optimistic write of payouts: one statement, a transaction of its own, pays each payout that
 * no rule holds, and leaves out the others. The rules are in domain/payout-hold.ts. They give the
 * statement an upper bound of the player's recent payouts, and the statement compares the payouts
 * that it reads with this bound (decision 21).
 *
 * The sum of a program is exact although others pay at the same time: the statement locks the
 * program's row, and adds to its snapshot's sum what the row has counted since that snapshot.
 */

import type { Database, Statement } from '@laurel/postgres';
import { awardTransferId } from '@laurel/values/ids';
import { HOUSE_DIGIT, playerLedgerId } from '../domain/ledger.ts';
import type { PayoutRequest } from '../domain/payout-decision.ts';
import type { RecentPayouts } from '../domain/payout-hold.ts';
import type { DefaultLimits } from '../domain/program-limits.ts';
import { recentPayoutsSql, velocityWindowStart } from './payouts.ts';
import { payoutLimitSql, recentProgramPayoutsSql } from './program-limits.ts';

/**
 * A payout. It is paid only if the account's recent payouts are no more than `mostRecent`, in count
 * and in sum; null for a purse, which velocity never holds.
 */
export type OptimisticPayout = { readonly payment: PayoutRequest; readonly mostRecent: RecentPayouts | null };

const PAY_OPTIMISTIC: Statement = {
  name: 'pay_awards_optimistic',
  // Each step reads what the previous one wrote, so that locks are taken in the one order
  // (docs/lock-order.md): players by id, programs by id, payouts by award, transfers by id, houses
  // by id. Flags and recent payouts come from the statement's snapshot, which is taken after the
  // payout was requested.
  // Every payout changes its player's row. So if the locked row is still the snapshot's, by its
  // xmin, no payout was committed while the statement waited for the lock. Within one statement an
  // xmin is never reused.
  //
  // A program's payouts of the window are the committed rows of the snapshot, and those committed
  // between the snapshot and the lock, by which the row's count has grown. An award is paid if it
  // fits with all payouts before it in this batch, including those that do not fit themselves; the
  // transaction under lock decides the rest. A program without a row has no limit in test; in live
  // the transaction under lock opens its row. Payouts are read only if the snapshot has a limit. If
  // an operator sets the first limit while the statement waits for the lock, the sum is null, which
  // no limit admits.
  text: `
    with payable as materialized (
      select payment.*
      from (
        select *
        from unnest(
          $1::uuid[], $2::uuid[], $3::text[], $4::uuid[], $5::uuid[], $6::uuid[], $7::text[], $8::uuid[], $9::uuid[], $10::bigint[],
          $11::bigint[], $12::bigint[]
        ) as payment (
          award_id, transfer_id, kind, attempt_id, round_id, program_id, environment, account_id, ledger_id, amount_cents,
          most_count, most_cents
        )
        order by ledger_id
      ) as payment
      cross join lateral (
        select from accounts
        where accounts.id = payment.account_id and not accounts.enforcement_flag and not accounts.under_investigation
        limit 1
      ) as person
      cross join lateral (
        select ledger_accounts.xmin as version from ledger_accounts where ledger_accounts.id = payment.ledger_id limit 1
      ) as known
      cross join lateral (
        ${recentPayoutsSql({ accountId: 'payment.account_id', environment: 'payment.environment', since: '$14::timestamptz' })}
      ) as recent
      cross join lateral (
        select from ledger_accounts
        where ledger_accounts.id = payment.ledger_id and ledger_accounts.xmin = known.version
          and not ledger_accounts.hold_next_award
          and (payment.most_count is null
            or (recent.paid_count <= payment.most_count and recent.paid_cents <= payment.most_cents))
        for no key update
      ) as player
    ),
    sums as materialized (
      select wanted.program_id, wanted.environment, known.paid_cents as known_cents, recent.paid_cents as recent_cents
      from (select distinct payable.program_id, payable.environment from payable) as wanted
      cross join lateral (
        select program_limits.paid_cents,
          ${payoutLimitSql({ program: 'program_limits', environment: 'wanted.environment', defaultCents: '$15' })} as limit_cents
        from program_limits
        where program_limits.program_id = wanted.program_id and program_limits.environment = wanted.environment limit 1
      ) as known
      cross join lateral (
        ${recentProgramPayoutsSql({
          programId: 'wanted.program_id',
          environment: 'wanted.environment',
          since: '$14::timestamptz',
          countCents: 'known.paid_cents',
          onlyIf: 'known.limit_cents is not null',
        })}
      ) as recent
    ),
    programs as materialized (
      select wanted.program_id, wanted.environment, allowed.limit_cents, program.paid_cents as count_cents,
        wanted.recent_cents + program.paid_cents - wanted.known_cents as paid_cents
      from (select * from sums order by program_id, environment) as wanted
      cross join lateral (
        select program_limits.payout_limit_cents, program_limits.paid_cents from program_limits
        where program_limits.program_id = wanted.program_id and program_limits.environment = wanted.environment
        for no key update
      ) as program
      cross join lateral (
        select ${payoutLimitSql({ program: 'program', environment: 'wanted.environment', defaultCents: '$15' })} as limit_cents
      ) as allowed
    ),
    admitted as (
      select placed.*
      from (
        select payable.*, case payable.kind when 'award' then programs.limit_cents end as program_limit_cents,
          programs.program_id is not null as is_limited, programs.count_cents,
          programs.paid_cents + sum(payable.amount_cents) over (
            partition by payable.program_id, payable.environment order by payable.transfer_id, payable.ledger_id
          ) as program_cents
        from payable
        left join programs on programs.program_id = payable.program_id and programs.environment = payable.environment
      ) as placed
      where (placed.is_limited or placed.environment = 'test')
        and (placed.program_limit_cents is null or placed.program_cents <= placed.program_limit_cents)
    ),
    credited as (
      update ledger_accounts as player set balance_cents = player.balance_cents + admitted.amount_cents
      from (
        select admitted.*, admitted.count_cents + (sum(admitted.amount_cents) over (
          partition by admitted.program_id, admitted.environment order by admitted.transfer_id, admitted.ledger_id
        ))::bigint as program_paid_cents
        from admitted
      ) as admitted
      where player.id = admitted.ledger_id
      returning admitted.*, player.balance_cents, player.house_id
    ),
    counted as (
      update program_limits as program set paid_cents = program.paid_cents + summed.cents
      from (
        select program_id, environment, sum(amount_cents)::bigint as cents from credited group by program_id, environment
      ) as summed
      join programs on programs.program_id = summed.program_id and programs.environment = summed.environment
      where program.program_id = programs.program_id and program.environment = programs.environment
    ),
    paid as (
      insert into payouts (
        award_id, attempt_id, round_id, program_id, environment, account_id, amount_cents, status, transfer_id, created_at, paid_at,
        program_limit_cents, program_paid_cents
      )
      select award_id, attempt_id, round_id, program_id, environment, account_id, amount_cents, 'paid', transfer_id,
        $13::timestamptz, $13::timestamptz, program_limit_cents, program_paid_cents
      from credited
      order by award_id
      returning 1
    ),
    posted as (
      insert into transfers (
        id, state, kind, environment, debit_id, credit_id, amount_cents, player_ledger_id, player_balance_after_cents, attempt_id,
        round_id, award_id, house_id, created_at
      )
      select transfer_id, 'posted', kind, environment,
        overlay(house_id::text placing
          case kind when 'award' then '${HOUSE_DIGIT.house_prizes}' else '${HOUSE_DIGIT.house_purses}' end from 36 for 1)::uuid,
        ledger_id, amount_cents, ledger_id, balance_cents, attempt_id, round_id, award_id, house_id, $13::timestamptz
      from credited
      where (select count(*) from paid) >= 0
      order by transfer_id
      returning player_ledger_id, debit_id, amount_cents
    ),
    houses as materialized (
      select house.id, summed.cents
      from (select debit_id, sum(amount_cents)::bigint as cents from posted group by debit_id order by debit_id) as summed
      cross join lateral (
        select ledger_accounts.id from ledger_accounts where ledger_accounts.id = summed.debit_id for no key update
      ) as house
    ),
    debited as (
      update ledger_accounts as house set balance_cents = house.balance_cents - houses.cents from houses where house.id = houses.id
    )
    select player_ledger_id from posted`,
};

/**
 * Pays the payouts that no rule holds, and returns the ledger ids of their players. At most one
 * payout per player. If two payouts share an award id, the statement pays one and leaves the other
 * out: the player's id, not the award's, shows which. If an award is decided already, the statement
 * fails with a unique violation and pays nothing.
 */
export async function payOptimistically(
  database: Database,
  payouts: readonly OptimisticPayout[],
  { now, defaults }: { readonly now: Date; readonly defaults: DefaultLimits },
): Promise<ReadonlySet<string>> {
  const payments = payouts.map(({ payment }) => payment);
  const rows = await database.write<{ player_ledger_id: string }>(
    PAY_OPTIMISTIC,
    [
      payments.map(({ awardId }) => awardId),
      payments.map(({ awardId }) => awardTransferId(awardId)),
      payments.map(({ kind }) => kind),
      payments.map((payment) => (payment.kind === 'award' ? payment.attemptId : null)),
      payments.map((payment) => (payment.kind === 'purse' ? payment.roundId : null)),
      payments.map(({ programId }) => programId),
      payments.map(({ environment }) => environment),
      payments.map(({ accountId }) => accountId),
      payments.map(({ accountId, environment }) => playerLedgerId(accountId, environment)),
      payments.map(({ amountCents }) => amountCents),
      payouts.map(({ mostRecent }) => mostRecent?.count ?? null),
      payouts.map(({ mostRecent }) => mostRecent?.amountCents ?? null),
      now,
      velocityWindowStart(now),
      defaults.payoutCents,
    ],
    { durable: true },
  );
  return new Set(rows.map(({ player_ledger_id }) => player_ledger_id));
}
