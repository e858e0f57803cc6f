/**
 * The optimistic write of fees. Fees are decided on the cached players (player-cache.ts). One
 * statement, a transaction of its own, posts a fee only if the cached facts still hold (decision
 * 9).
 */
import type { Database, Statement } from '@laurel/postgres';
import type { FeeCharge, KnownPlayer } from '../domain/fee-decision.ts';
import type { DefaultLimits } from '../domain/program-limits.ts';
import { chargedFeesSql, feeLimitJoinsSql, feeWindowStart } from './charged-fees.ts';

/** A fee that may be posted if its player's cached facts still hold. */
export type OptimisticFee = KnownPlayer & { readonly charge: FeeCharge; readonly ledgerId: string };

const POST_OPTIMISTIC_FEES: Statement = {
  name: 'post_fees_optimistic',
  // Each step reads what the previous one wrote, so that locks are taken in the one order
  // (docs/lock-order.md): players by id, transfers by id, houses by id. `payable` locks the
  // players. If another transaction is changing a player's row, it waits and checks the new
  // balance. All other facts come from the statement's snapshot, which is taken after the fee was
  // requested.
  // The player's row names the house that receives the fee. The house's account for fees has the
  // house's id with a 1 at the end (domain/ledger.ts) and always exists: a trigger keeps it.
  //
  // If the program's charges to the account have a limit, the statement sums all fees of the
  // window. The sum includes refunded fees, so it may be too high but never too low. The locked row
  // of the player must have the snapshot's xmin: then no other fee was posted while the statement
  // waited for the lock. A fee that the statement leaves out is decided under lock. Without a limit
  // the statement checks neither sum nor xmin.
  text: `
    with payable as materialized (
      select charge.transfer_id, charge.attempt_id, charge.ledger_id, charge.environment, charge.fee_cents, charge.program_id,
        allowed.limit_cents
      from (
        select *
        from unnest(
          $1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::text[], $6::text[], $7::bigint[], $8::uuid[], $9::date[], $10::text[],
          $11::smallint[], $12::timestamptz[], $13::boolean[], $14::boolean[]
        ) as charge (
          transfer_id, attempt_id, ledger_id, program_id, environment, player_ref, fee_cents, account_id, date_of_birth, jurisdiction,
          verification_level, self_excluded_until, blocked, insider
        )
        order by ledger_id
      ) as charge
      cross join lateral (
        select player_links.account_id from player_links
        where player_links.program_id = charge.program_id and player_links.environment = charge.environment
          and player_links.player_ref = charge.player_ref limit 1
      ) as link
      cross join lateral (
        select * from accounts where accounts.id = link.account_id limit 1
      ) as person
      left join lateral (
        select insiders.account_id from insiders
        where insiders.program_id = charge.program_id and insiders.account_id = link.account_id limit 1
      ) as insider on true
      ${feeLimitJoinsSql({ programId: 'charge.program_id', environment: 'charge.environment', defaultCents: '$16' })}
      cross join lateral (
        ${chargedFeesSql({ ledgerId: 'charge.ledger_id', programId: 'charge.program_id', since: '$17::timestamptz' })}
      ) as charged
      cross join lateral (
        select ledger_accounts.xmin as version from ledger_accounts where ledger_accounts.id = charge.ledger_id limit 1
      ) as known
      cross join lateral (
        select from ledger_accounts
        where ledger_accounts.id = charge.ledger_id and ledger_accounts.balance_cents >= charge.fee_cents
          and (allowed.limit_cents is null
            or (ledger_accounts.xmin = known.version and charged.charged_cents + charge.fee_cents <= allowed.limit_cents))
        for no key update
      ) as payer
      where link.account_id = charge.account_id and person.date_of_birth = charge.date_of_birth
        and person.jurisdiction = charge.jurisdiction and person.verification_level = charge.verification_level
        and person.self_excluded_until is not distinct from charge.self_excluded_until and person.blocked = charge.blocked
        and (insider.account_id is not null) = charge.insider
    ),
    charged as (
      update ledger_accounts as player set balance_cents = player.balance_cents - payable.fee_cents
      from payable
      where player.id = payable.ledger_id
      returning payable.transfer_id, payable.attempt_id, payable.environment, payable.fee_cents, payable.program_id, payable.limit_cents,
        player.id as ledger_id, player.balance_cents, player.house_id
    ),
    posted as (
      insert into transfers (
        id, state, kind, environment, debit_id, credit_id, amount_cents, player_ledger_id, player_balance_after_cents, attempt_id,
        house_id, created_at, program_id, program_limit_cents
      )
      select transfer_id, 'posted', 'fee', environment, ledger_id,
        overlay(house_id::text placing '1' from 36 for 1)::uuid,
        fee_cents, ledger_id, balance_cents, attempt_id, house_id, $15::timestamptz, program_id, limit_cents
      from charged
      order by transfer_id
      returning player_ledger_id, credit_id, amount_cents
    ),
    houses as materialized (
      select house.id, summed.cents
      from (select credit_id, sum(amount_cents)::bigint as cents from posted group by credit_id order by credit_id) as summed
      cross join lateral (
        select ledger_accounts.id from ledger_accounts where ledger_accounts.id = summed.credit_id for no key update
      ) as house
    ),
    credited as (
      update ledger_accounts as house set balance_cents = house.balance_cents + houses.cents from houses where house.id = houses.id
    )
    select player_ledger_id from posted`,
};

/**
 * Posts the fees of players whose cached facts still hold and who can pay, and returns their ledger
 * ids. At most one fee per player. If an id is decided already, the statement fails with a unique
 * violation and posts nothing.
 */
export async function postOptimisticFees(
  database: Database,
  fees: readonly OptimisticFee[],
  { now, defaults }: { readonly now: Date; readonly defaults: DefaultLimits },
): Promise<ReadonlySet<string>> {
  const rows = await database.write<{ player_ledger_id: string }>(
    POST_OPTIMISTIC_FEES,
    [
      fees.map(({ charge }) => charge.transferId),
      fees.map(({ charge }) => charge.attemptId),
      fees.map(({ ledgerId }) => ledgerId),
      fees.map(({ charge }) => charge.programId),
      fees.map(({ charge }) => charge.environment),
      fees.map(({ charge }) => charge.playerRef),
      fees.map(({ charge }) => charge.feeCents),
      fees.map(({ accountId }) => accountId),
      fees.map(({ eligibility }) => eligibility.dateOfBirth),
      fees.map(({ eligibility }) => eligibility.jurisdiction),
      fees.map(({ eligibility }) => eligibility.verificationLevel),
      fees.map(({ eligibility }) => eligibility.selfExcludedUntil),
      fees.map(({ eligibility }) => eligibility.blocked),
      fees.map(({ eligibility }) => eligibility.insider),
      now,
      defaults.feeCents,
      feeWindowStart(now),
    ],
    { durable: true },
  );
  return new Set(rows.map((row) => row.player_ledger_id));
}
