/** Fees of players in good standing, posted in one statement that is its own transaction (decision 9). */
import type { Database, Statement } from '@laurel/postgres';
import type { FeeCharge, KnownPlayer } from '../domain/fee-decision.ts';
import { houseLedgerId } from '../domain/ledger.ts';

/** A fee that may be posted if what is remembered of its player still holds. */
export type RememberedFee = KnownPlayer & { readonly charge: FeeCharge; readonly ledgerId: string };

const postRememberedFeesStatement: Statement = {
  name: 'post_remembered_fees',
  // Each step reads what the one before it wrote, so that locks are taken in the one order: players by id, transfers by id, the house.
  // `fit` follows the arrays, which are in the players' order, and the update goes row by row from it to the ledger by id. A player whose
  // row somebody else changes meanwhile is waited for, and the balance is judged again as it is then. Facts are those of the
  // moment at which the statement began: after the fee was asked for. The house's rows are there: a trigger keeps them.
  text: `
    with fit as materialized (
      select charge.transfer_id, charge.attempt_id, charge.ledger_id, charge.environment, charge.fee_cents
      from unnest(
        $1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::text[], $6::text[], $7::bigint[], $8::uuid[], $9::date[], $10::text[],
        $11::smallint[], $12::timestamptz[], $13::boolean[], $14::boolean[]
      ) as charge (
        transfer_id, attempt_id, ledger_id, program_id, environment, player_ref, fee_cents, account_id, date_of_birth, jurisdiction,
        verification_level, self_excluded_until, blocked, insider
      )
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
      where link.account_id = charge.account_id and person.date_of_birth = charge.date_of_birth
        and person.jurisdiction = charge.jurisdiction and person.verification_level = charge.verification_level
        and person.self_excluded_until is not distinct from charge.self_excluded_until and person.blocked = charge.blocked
        and (insider.account_id is not null) = charge.insider
    ),
    charged as (
      update ledger_accounts as player set balance_cents = player.balance_cents - fit.fee_cents
      from fit
      where player.id = fit.ledger_id and player.balance_cents >= fit.fee_cents
      returning fit.transfer_id, fit.attempt_id, fit.environment, fit.fee_cents, player.id as ledger_id, player.balance_cents
    ),
    posted as (
      insert into transfers (
        id, state, kind, environment, debit_id, credit_id, amount_cents, player_ledger_id, player_balance_after_cents, attempt_id,
        created_at
      )
      select transfer_id, 'posted', 'fee', environment, ledger_id,
        case environment
          when 'test' then '${houseLedgerId('house_fees', 'test')}'::uuid else '${houseLedgerId('house_fees', 'live')}'::uuid end,
        fee_cents, ledger_id, balance_cents, attempt_id, $15::timestamptz
      from charged
      order by transfer_id
      returning player_ledger_id, credit_id, amount_cents
    ),
    earned as (
      update ledger_accounts as house set balance_cents = house.balance_cents + taken.cents
      from (select credit_id, sum(amount_cents)::bigint as cents from posted group by credit_id order by credit_id) as taken
      where house.id = taken.credit_id
    )
    select player_ledger_id from posted`,
};

/**
 * Posts the fees whose players are still who they are remembered to be and can pay, and answers these players' ledger ids. At most one
 * fee a player. An id that was posted or fenced before shows as a unique violation, and then nothing is posted.
 */
export async function postRememberedFees(
  database: Database,
  fees: readonly RememberedFee[],
  now: Date,
): Promise<ReadonlySet<string>> {
  const byPlayer = [...fees].sort((a, b) => (a.ledgerId < b.ledgerId ? -1 : 1));
  const rows = await database.write<{ player_ledger_id: string }>(
    postRememberedFeesStatement,
    [
      byPlayer.map(({ charge }) => charge.transferId),
      byPlayer.map(({ charge }) => charge.attemptId),
      byPlayer.map(({ ledgerId }) => ledgerId),
      byPlayer.map(({ charge }) => charge.programId),
      byPlayer.map(({ charge }) => charge.environment),
      byPlayer.map(({ charge }) => charge.playerRef),
      byPlayer.map(({ charge }) => charge.feeCents),
      byPlayer.map(({ accountId }) => accountId),
      byPlayer.map(({ standing }) => standing.dateOfBirth),
      byPlayer.map(({ standing }) => standing.jurisdiction),
      byPlayer.map(({ standing }) => standing.verificationLevel),
      byPlayer.map(({ standing }) => standing.selfExcludedUntil),
      byPlayer.map(({ standing }) => standing.blocked),
      byPlayer.map(({ standing }) => standing.insider),
      now,
    ],
    { durable: true },
  );
  return new Set(rows.map((row) => row.player_ledger_id));
}
