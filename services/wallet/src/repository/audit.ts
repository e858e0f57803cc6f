/**
 * Every invariant of the ledger, as a query for the rows that violate it. Constraints enforce each
 * invariant, directly or together. The audit relies on no constraint, because it exists for the
 * case in which one was switched off.
 *
 * A rule has two forms. `violations` reads whole tables once, for the audit that an operator asks
 * for: a ledger of a million transfers takes some 20 s on two busy cores. `slices` is the same rule
 * over some rows (audit-walks.ts), for the continuous audit; a rule of single rows has one text for
 * both (`ofRows`). Slices find other rows by indexes. If one of these indexes is missing, a slice
 * may take too long and the pass stands still, but every run still reports `guards_are_in_place`.
 */
import {
  type CheckResult,
  createSlicedAudit,
  type Database,
  type EnvironmentsOfIds,
  ofRows,
  runChecks,
  type SlicedAudit,
  type SlicedCheck,
  type SliceLimits,
} from '@laurel/postgres';
import { HOUSE_DIGIT, LIVE_HOUSE, SHARED_SANDBOX } from '../domain/ledger.ts';
import {
  ACCOUNTS,
  DECISIONS,
  LEDGERS,
  LINES,
  PAYOUTS,
  PAYOUTS_OF_PROGRAMS,
  START_SUMS,
  SUM,
  TRANSFERS,
  unhousedSides,
  WALKS,
} from './audit-walks.ts';
import { CONTEST_SERVICE_DIGITS, contestServiceDigitsSql } from './owned-page.ts';
import { DAY_COLUMN_SUMS, DAY_COLUMNS, dayAmountsSql, KIND_SUMS } from './program-days.ts';

/** The constraints, unique indexes and triggers that prevent what the other checks detect. */
const GUARDS = [
  'ledger_accounts_never_overdrawn',
  'ledger_accounts_only_the_house_overdraws',
  'transfers_pkey',
  'transfers_posted_is_complete',
  'transfers_tombstone_moves_nothing',
  'transfers_legs_follow_kind',
  'transfers_one_fee_per_attempt',
  'transfers_one_refund_per_fee',
  'transfers_one_transfer_per_award',
  'transfers_one_deposit_per_reference',
  'transfers_award_names_its_award',
  'transfers_purse_names_its_round',
  'transfers_append_only',
  'ledger_accounts_are_kept',
  'payouts_pkey',
  'payouts_attempt_id_key',
  'payouts_name_attempt_or_round',
  'payouts_paid_iff_money_moved',
  'transfers_deposit_within_cap',
  'program_limits_pkey',
  'program_limits_paid_only_grows',
  'payouts_count_includes_them',
  'payouts_counted_once_paid',
  'payout_decisions_pkey',
  'payout_decisions_match_their_payout',
  'payout_decisions_are_kept',
  'payouts_decisions_are_final',
  'houses_one_is_live',
  'houses_share_no_account',
  'accounts_house_email_key',
  'ledger_accounts_one_house_account_per_kind',
  'ledger_accounts_house_is_of_the_environment',
  'player_links_house_follows_environment',
  'player_links_person_plays_with_the_house',
  'player_links_never_severed',
  'player_links_pair_is_not_severed',
];

/**
 * These constraints bind every row that was written after they were created. Rows from before there
 * were houses violate them, so they are never validated.
 */
const GUARDS_BUT_HISTORY = ['transfers_player_plays_with_the_house', 'ledger_accounts_person_plays_with_the_house'];

const HOUSE_ACCOUNTS = Object.entries(HOUSE_DIGIT)
  .map(([kind, digit]) => `('${kind}', '${digit}')`)
  .join(', ');

/** 24 hours less a millisecond: a row exactly 24 hours old does not count. */
const DAY = `interval '23:59:59.999'`;
/** The rows of a 24-hour window up to the current one. */
const OF_A_DAY = `range between ${DAY} preceding and current row`;

/** Paid awards that no rule held, and to which a limit of their program applied. */
const IS_LIMITED = `status = 'paid' and reason is null and program_limit_cents is not null`;

/**
 * The highest limit of the payouts in the 24 hours up to `award`. The condition `isIndexed` selects
 * the payouts that one of the indexes by program covers.
 */
const highestLimitSql = (isIndexed: string) => `(
          select max(program_limit_cents) from payouts
          where program_id = award.program_id and environment = award.environment and ${isIndexed} and ${IS_LIMITED}
            and paid_at between award.paid_at - ${DAY} and award.paid_at)`;

/** Houses whose balances, together with the amounts of `moved`, do not sum to zero. */
const houseSumsSql = (moved: string) => `
      select part.house_id as id
      from (
        select house_id, sum(balance_cents) as cents from ledger_accounts group by house_id
        union all
        select moved.house_id, moved.cents from ${moved} as moved
      ) as part
      group by part.house_id having sum(part.cents) <> 0`;

/** Refunds that contradict the fee that they return. */
const refundDiffersSql = (refunds: string) => `
      select refund.key, refund.id
      from ${refunds} as refund
      left join transfers as fee on fee.id = refund.fee_transfer_id and fee.kind = 'fee' and fee.state = 'posted'
      where refund.kind = 'refund' and (
        fee.id is null or fee.amount_cents <> refund.amount_cents or fee.environment <> refund.environment
        or fee.debit_id <> refund.credit_id or fee.attempt_id <> refund.attempt_id
        or (fee.credit_id <> refund.debit_id and (fee.house_id is not null or fee.environment = 'live'))
      )`;

const { challenge: OF_CHALLENGE, tournament: OF_TOURNAMENT } = CONTEST_SERVICE_DIGITS;

const unownedFeesSql = (transfers: string) => `
      select key, id from ${transfers} as fee
      where kind = 'fee' and state = 'posted' and ${contestServiceDigitsSql('attempt_id')} not in ('${OF_CHALLENGE}', '${OF_TOURNAMENT}')`;

const unownedPayoutsSql = (payouts: string) => `
      select key, award_id as id from ${payouts} as payout
      where num_nonnulls(attempt_id, round_id) <> 1
        or ${contestServiceDigitsSql('attempt_id')} <> '${OF_CHALLENGE}'
        or ${contestServiceDigitsSql('award_id')} <> case when round_id is null then '${OF_CHALLENGE}' else '${OF_TOURNAMENT}' end`;

const sumsOf = (table: string) => DAY_COLUMNS.map((column) => `${table}.${column}`).join(', ');

/** Programs whose stored money of a closed day is not the sum of the amounts. */
const closedDaysSql = (closed: string, amounts: string) => `
      with closed as ${closed},
      summed as (
        select day, environment, program_id, ${KIND_SUMS}
        from ${amounts} as amount
        where day < (select open_from from closed) group by day, environment, program_id
      )
      select distinct coalesce(stored.program_id, summed.program_id) as id, coalesce(stored.environment, summed.environment) as environment
      from (select * from program_days where day < (select open_from from closed)) as stored
      full join summed using (day, environment, program_id)
      where row(${sumsOf('stored')}) is distinct from row(${sumsOf('summed')})`;

/** Days whose stored money of an environment is not the sum of its programs' money. */
const ENVIRONMENT_DAYS_SQL = `
      with stored as (
        select * from environment_days where day < (select environments_open_from from day_counts)
      ),
      summed as (
        select day, environment, ${DAY_COLUMN_SUMS} from program_days
        where day < (select environments_open_from from day_counts) group by day, environment
      )
      select day::text as id, environment
      from stored full join summed using (day, environment)
      where row(${sumsOf('stored')}) is distinct from row(${sumsOf('summed')})`;

/** Whether a paid payout with its ledger account and its transfer contradict each other, in SQL. */
const PAYOUT_DIFFERS = `
        payout.award_id is null or transfer.id is null
        or payout.transfer_id is distinct from transfer.id
        or ledger.id is distinct from transfer.credit_id
        or payout.amount_cents <> transfer.amount_cents
        or payout.attempt_id is distinct from transfer.attempt_id
        or payout.round_id is distinct from transfer.round_id
        or (payout.round_id is not null) <> (transfer.kind = 'purse')`;

const LEDGER_OF_PAYOUT = `
      left join ledger_accounts as ledger on ledger.account_id = payout.account_id and ledger.environment = payout.environment`;

const CHECKS: readonly SlicedCheck[] = [
  {
    id: 'balance_is_sum_of_transfers',
    description: 'The balance of every ledger account is what its transfers add up to.',
    violations: `
      select coalesce(ledger.id, summed.id) as id
      from ledger_accounts as ledger
      full join (
        select leg.id, sum(leg.cents) as cents
        from (
          select credit_id as id, sum(amount_cents) as cents from transfers where state = 'posted' group by credit_id
          union all
          select debit_id, -sum(amount_cents) from transfers where state = 'posted' group by debit_id
        ) as leg
        group by leg.id
      ) as summed on summed.id = ledger.id
      where ledger.id is null or ledger.balance_cents <> coalesce(summed.cents, 0)`,
    slices: {
      [LEDGERS.walk]: `
      select part.key, part.key as id
      from (
        select key, kind = 'player' as is_player, balance_cents as cents from ${LEDGERS.inSlice} as ledger
        union all
        select key, false, case when debit_id = key then amount_cents else 0 end - case when credit_id = key then amount_cents else 0 end
        from ${LINES.inSlice} as line
        union all
        select ledger.key, false, -moved.cents
        from ${LEDGERS.inSlice} as ledger
        join audit_sums as moved on moved.name = '${SUM.moved}' and moved.key = ledger.id::text
      ) as part
      group by part.key having bool_or(part.is_player) and sum(part.cents) <> 0`,
    },
    atEnd: `
      select coalesce(balance.key, moved.key)::uuid as id
      from (select key, cents from audit_sums where name = '${SUM.balance}') as balance
      full join (select key, cents from audit_sums where name = '${SUM.moved}') as moved using (key)
      left join ledger_accounts as ledger on ledger.id = coalesce(balance.key, moved.key)::uuid
      where ledger.id is null or (ledger.kind <> 'player' and balance.cents <> coalesce(moved.cents, 0))`,
  },
  {
    id: 'balances_sum_to_zero',
    description: 'All balances of one environment sum to zero.',
    violations: `select environment as id, environment from ledger_accounts group by environment having sum(balance_cents) <> 0`,
  },
  {
    id: 'balances_of_a_house_sum_to_zero',
    description:
      'All balances of one house, and of those who play with it, sum to zero: no program’s play money reaches another’s.',
    // Transfers from before there were houses name no house. In test the shared sandbox was their
    // counterparty, whatever the player's house.
    violations: houseSumsSql(unhousedSides('transfers')),
    atEnd: houseSumsSql(`(select key::uuid as house_id, cents from audit_sums where name = '${SUM.unhoused}')`),
  },
  {
    id: 'houses_are_complete',
    description: 'Every house has its four accounts, under the ids that derive from its own.',
    violations: `
      select houses.id
      from houses
      cross join (values ${HOUSE_ACCOUNTS}) as wanted (kind, digit)
      left join ledger_accounts as account
        on account.id = overlay(houses.id::text placing wanted.digit from 36 for 1)::uuid and account.kind = wanted.kind
        and account.house_id = houses.id and account.environment = houses.environment
      where account.id is null
      union
      select id from ledger_accounts where kind <> 'player' and not exists (select 1 from houses where houses.id = house_id)`,
  },
  {
    id: 'players_stay_with_their_house',
    description:
      'Real people have real money alone, and a program’s sandbox accounts that program’s play money alone; no link of another program and no severed one names them.',
    // People's play money from before there were houses stays in the shared sandbox.
    violations: `
      select ledger.id
      from ledger_accounts as ledger
      join accounts on accounts.id = ledger.account_id
      where ledger.house_id <> accounts.house_id and ledger.house_id <> '${SHARED_SANDBOX}'
      union
      select accounts.id
      from player_links as link
      join accounts on accounts.id = link.account_id
      where accounts.house_id <> case link.environment when 'live' then '${LIVE_HOUSE}'::uuid else link.program_id end
      union
      select link.account_id
      from player_links as link
      join program_accounts as pair on pair.program_id = link.program_id and pair.account_id = link.account_id
      where pair.severed`,
    slices: {
      [ACCOUNTS.walk]: `
      select account.key, ledger.id
      from ${ACCOUNTS.inSlice} as account
      join ledger_accounts as ledger on ledger.account_id = account.id
      where ledger.house_id <> account.house_id and ledger.house_id <> '${SHARED_SANDBOX}'
      union
      select account.key, account.id
      from ${ACCOUNTS.inSlice} as account
      join player_links as link on link.account_id = account.id
      left join program_accounts as pair on pair.program_id = link.program_id and pair.account_id = link.account_id
      where account.house_id <> case link.environment when 'live' then '${LIVE_HOUSE}'::uuid else link.program_id end
        or pair.severed`,
    },
  },
  {
    id: 'no_player_below_zero',
    description: 'No player has, or ever had, a balance below zero.',
    violations: `
      select id from ledger_accounts where kind = 'player' and balance_cents < 0
      union
      select player_ledger_id from transfers where player_balance_after_cents < 0`,
    slices: {
      [LEDGERS.walk]: `select key, id from ${LEDGERS.inSlice} as ledger where kind = 'player' and balance_cents < 0`,
      [TRANSFERS.walk]: `
      select key, player_ledger_id as id from ${TRANSFERS.inSlice} as transfer where player_balance_after_cents < 0`,
    },
  },
  {
    id: 'running_balance_is_unbroken',
    description: 'On every statement, each line follows from the one before it.',
    violations: `
      select line.id
      from (
        select id, player_balance_after_cents as after,
          lag(player_balance_after_cents, 1, 0::bigint) over (partition by player_ledger_id order by seq) as before,
          case when credit_id = player_ledger_id then amount_cents else -amount_cents end as moved
        from transfers where state = 'posted'
      ) as line
      where line.before + line.moved is distinct from line.after`,
    slices: {
      [TRANSFERS.walk]: `
      select line.key, line.id
      from ${TRANSFERS.inSlice} as line
      left join lateral (
        select seq, player_balance_after_cents as after from transfers
        where player_ledger_id = line.player_ledger_id and state = 'posted' and seq < line.seq
        order by seq desc limit 1
      ) as previous on true
      where line.state = 'posted'
        and case when previous.seq is null then 0 else previous.after end
          + case when line.credit_id = line.player_ledger_id then line.amount_cents else -line.amount_cents end
          is distinct from line.player_balance_after_cents`,
    },
  },
  {
    id: 'tombstones_move_nothing',
    description: 'A tombstone moved nothing, neither under its id nor for its attempt.',
    violations: `
      select id from transfers where state <> 'posted' and num_nonnulls(debit_id, credit_id, amount_cents) > 0
      union
      select tombstone.id from transfers as tombstone
      join transfers as fee on fee.attempt_id = tombstone.attempt_id and fee.kind = 'fee' and fee.state = 'posted'
      where tombstone.state <> 'posted'`,
    slices: {
      [TRANSFERS.walk]: `
      select tombstone.key, tombstone.id
      from ${TRANSFERS.inSlice} as tombstone
      left join transfers as fee on fee.attempt_id = tombstone.attempt_id and fee.kind = 'fee' and fee.state = 'posted'
      where tombstone.state <> 'posted' and (
        num_nonnulls(tombstone.debit_id, tombstone.credit_id, tombstone.amount_cents) > 0 or fee.id is not null)`,
    },
  },
  {
    id: 'one_environment_per_transfer',
    description:
      'Both legs of a transfer are accounts of its own environment and house: a player, and the house account of its kind.',
    ...ofRows(
      TRANSFERS,
      (transfers) => `
      select transfer.key, transfer.id
      from ${transfers} as transfer
      left join ledger_accounts as debit on debit.id = transfer.debit_id and debit.environment = transfer.environment
        and debit.house_id = coalesce(transfer.house_id, debit.house_id)
      left join ledger_accounts as credit on credit.id = transfer.credit_id and credit.environment = transfer.environment
        and credit.house_id = coalesce(transfer.house_id, credit.house_id)
      where transfer.state = 'posted'
        and row(debit.kind, credit.kind) is distinct from case transfer.kind
          when 'fee' then row('player'::text, 'house_fees'::text)
          when 'refund' then row('house_fees'::text, 'player'::text)
          when 'award' then row('house_prizes'::text, 'player'::text)
          when 'purse' then row('house_purses'::text, 'player'::text)
          when 'deposit' then row('external_cash'::text, 'player'::text)
        end`,
    ),
  },
  {
    id: 'one_fee_per_attempt',
    description: 'An attempt is paid for at most once.',
    violations: `
      select attempt_id as id from transfers where kind = 'fee' and state = 'posted'
      group by attempt_id having count(*) > 1 or attempt_id is null`,
    slices: {
      [TRANSFERS.walk]: `
      select fee.key, fee.attempt_id as id
      from ${TRANSFERS.inSlice} as fee
      where fee.kind = 'fee' and fee.state = 'posted' and (fee.attempt_id is null or exists (
        select from transfers as other
        where other.attempt_id = fee.attempt_id and other.kind = 'fee' and other.state = 'posted' and other.id <> fee.id))`,
    },
  },
  {
    id: 'one_refund_per_fee_equal_and_opposite',
    description: 'A refund returns one posted fee once, in full, to the account that paid it.',
    // In test the shared sandbox received fees that a program's own house returns.
    violations: `
      ${refundDiffersSql(TRANSFERS.all)}
      union
      select null, fee_transfer_id from transfers where kind = 'refund' group by fee_transfer_id having count(*) > 1`,
    slices: {
      [TRANSFERS.walk]: `
      ${refundDiffersSql(TRANSFERS.inSlice)}
      union
      select refund.key, refund.fee_transfer_id
      from ${TRANSFERS.inSlice} as refund
      join transfers as other on other.fee_transfer_id = refund.fee_transfer_id and other.kind = 'refund' and other.id <> refund.id
      where refund.kind = 'refund'`,
    },
  },
  {
    id: 'one_transfer_per_paid_payout',
    description:
      'Every paid payout has moved its money once, to its account, and no other transfer of an award or a purse exists.',
    violations: `
      select coalesce(payout.award_id, transfer.award_id, transfer.id) as id
      from (select * from payouts where status = 'paid') as payout
      ${LEDGER_OF_PAYOUT}
      full join (select * from transfers where kind in ('award', 'purse') and state = 'posted') as transfer
        on transfer.award_id = payout.award_id
      where ${PAYOUT_DIFFERS}
      union
      select award_id from transfers where kind in ('award', 'purse') group by award_id having count(*) > 1`,
    slices: {
      [PAYOUTS.walk]: `
      select payout.key, payout.award_id as id
      from ${PAYOUTS.inSlice} as payout
      ${LEDGER_OF_PAYOUT}
      left join transfers as transfer on transfer.award_id = payout.award_id
        and transfer.kind in ('award', 'purse') and transfer.state = 'posted'
      where payout.status = 'paid' and (${PAYOUT_DIFFERS})`,
      [TRANSFERS.walk]: `
      select transfer.key, coalesce(payout.award_id, transfer.award_id, transfer.id) as id
      from ${TRANSFERS.inSlice} as transfer
      left join payouts as payout on payout.award_id = transfer.award_id and payout.status = 'paid'
      ${LEDGER_OF_PAYOUT}
      where transfer.kind in ('award', 'purse') and transfer.state = 'posted' and (${PAYOUT_DIFFERS})
      union
      select transfer.key, transfer.award_id
      from ${TRANSFERS.inSlice} as transfer
      join transfers as other on other.award_id = transfer.award_id and other.kind in ('award', 'purse') and other.id <> transfer.id
      where transfer.kind in ('award', 'purse')`,
    },
  },
  {
    id: 'held_payouts_moved_no_money',
    description: 'A payout that is held or denied has moved no money.',
    ...ofRows(
      PAYOUTS,
      (payouts) => `
      select distinct payout.key, payout.award_id as id
      from ${payouts} as payout
      left join transfers on transfers.kind in ('award', 'purse') and transfers.award_id = payout.award_id
      where payout.status <> 'paid'
        and (transfers.id is not null or payout.transfer_id is not null or payout.paid_at is not null)`,
    ),
  },
  {
    id: 'payments_name_their_owner',
    description:
      'The id of every fee’s attempt names the service that owns it; an award is a challenge attempt’s, a rank’s payout a tournament round’s.',
    // Each contest service audits the ids with its tag: no service would audit a row without one.
    violations: `${unownedFeesSql(TRANSFERS.all)} union all ${unownedPayoutsSql(PAYOUTS.all)}`,
    slices: {
      [TRANSFERS.walk]: unownedFeesSql(TRANSFERS.inSlice),
      [PAYOUTS.walk]: unownedPayoutsSql(PAYOUTS.inSlice),
    },
  },
  {
    id: 'guards_are_in_place',
    description: 'Every constraint, unique index and trigger that guards the money is there and switched on.',
    violations: `
      select guard.name as id
      from unnest(array['${[...GUARDS, ...GUARDS_BUT_HISTORY].join("', '")}']) as guard (name)
      where not exists (
          select 1 from pg_constraint
          where conname = guard.name and (convalidated or conname in ('${GUARDS_BUT_HISTORY.join("', '")}'))
        )
        and not exists (
          select 1 from pg_index join pg_class on pg_class.oid = indexrelid where relname = guard.name and indisvalid
        )
        and not exists (select 1 from pg_trigger where tgname = guard.name and tgenabled in ('O', 'A'))`,
  },
  {
    id: 'one_deposit_per_reference',
    description: 'A payment reference brought cash in at most once for an account.',
    ...ofRows(
      LINES,
      (lines) => `
      select key, min(id::text) as id from ${lines} as deposit where kind = 'deposit'
      group by key, reference having count(*) > 1`,
    ),
  },
  {
    id: 'program_payouts_within_limit',
    description: 'Awards that a program paid unheld in any 24 hours are within the limits that they were paid under.',
    // Purses and released payouts count towards the limit and may exceed it, so only awards that no
    // rule held are summed.
    // An operator may change the limit. The highest limit of a window bounds the window's sum,
    // because the last award was paid within its own limit.
    // If the sum is within the limit of the window's last award, the window is not read again: a
    // maximum over each window would read all of its rows.
    ...ofRows(
      PAYOUTS_OF_PROGRAMS,
      (payouts) => `
      select key, award_id as id
      from (
        select key, award_id, program_id, environment, paid_at, program_limit_cents, sum(amount_cents) over recent as cents
        from ${payouts} as payout
        where ${IS_LIMITED}
        window recent as (partition by program_id, environment order by paid_at ${OF_A_DAY})
      ) as award
      where cents > program_limit_cents
        and cents > greatest(${highestLimitSql('program_paid_cents is not null')}, ${highestLimitSql('program_paid_cents is null and paid_at is not null')})`,
    ),
  },
  {
    id: 'program_payouts_keep_the_count',
    description:
      'Each payout that keeps the count of its program adds its amount to it, and the program has counted it.',
    ...ofRows(
      PAYOUTS_OF_PROGRAMS,
      (payouts) => `
      select key, award_id as id
      from (
        select key, award_id, program_id, environment, program_paid_cents, program_paid_cents - amount_cents as before_cents,
          lag(program_paid_cents, 1, 0::bigint) over (partition by program_id, environment order by program_paid_cents) as previous_cents
        from ${payouts} as payout where program_paid_cents is not null
      ) as counted
      left join program_limits as program using (program_id, environment)
      where before_cents < previous_cents or program_paid_cents > coalesce(program.paid_cents, 0)`,
    ),
  },
  {
    id: 'program_fees_within_limit',
    description:
      'Fees that a program charged one account in any 24 hours are within the limits that they were charged under.',
    // Refunded fees are left out: a refund, at any time, may have made room for another fee.
    ...ofRows(
      LINES,
      (lines) => `
      select key, id
      from (
        select fee.key, fee.id, sum(fee.amount_cents) over recent as cents, max(fee.program_limit_cents) over recent as limit_cents
        from ${lines} as fee
        where fee.kind = 'fee' and fee.state = 'posted' and fee.program_limit_cents is not null
          and not exists (select from transfers as refund where refund.kind = 'refund' and refund.fee_transfer_id = fee.id)
        window recent as (partition by fee.player_ledger_id, fee.program_id order by fee.created_at ${OF_A_DAY})
      ) as fee
      where cents > limit_cents`,
    ),
  },
  {
    id: 'goodwill_goes_to_the_player',
    description: 'A deposit that compensates for an attempt is to the player who paid for the attempt.',
    ...ofRows(
      TRANSFERS,
      (transfers) => `
      select distinct deposit.key, deposit.id
      from ${transfers} as deposit
      join transfers as fee on fee.attempt_id = deposit.attempt_id and fee.kind = 'fee' and fee.state = 'posted'
      where deposit.kind = 'deposit' and fee.player_ledger_id <> deposit.player_ledger_id`,
    ),
  },
  {
    id: 'closed_days_match_the_ledger',
    description: 'The money of each closed day, by program and environment, is the sum of what the ledger dates to it.',
    // The ids are programs, which may have money in both environments. So the query itself states
    // the environment of each id.
    violations: closedDaysSql('(select open_from from day_counts)', `(${dayAmountsSql(`'-infinity'::timestamptz`)})`),
    atEnd: closedDaysSql(
      `(select key::date as open_from from audit_sums where name = '${SUM.openFrom}')`,
      `(
        select split_part(key, '|', 1)::date as day, split_part(key, '|', 2) as environment, split_part(key, '|', 3)::uuid as program_id,
          split_part(key, '|', 4) as kind, cents as amount_cents
        from audit_sums where name = '${SUM.days}')`,
    ),
  },
  {
    id: 'days_of_environments_are_sums_of_programs',
    description: 'The money of each closed day and environment is the sum of that of its programs.',
    violations: ENVIRONMENT_DAYS_SQL,
    atEnd: ENVIRONMENT_DAYS_SQL,
  },
  {
    id: 'decisions_match_their_payouts',
    description: 'An operator’s decision is on a payout that was held, and that it paid or denied.',
    ...ofRows(
      DECISIONS,
      (decisions) => `
      select decision.key, decision.award_id as id
      from ${decisions} as decision
      left join payouts on payouts.award_id = decision.award_id
      where payouts.reason is null
        or payouts.status is distinct from case decision.decision when 'released' then 'paid' else 'denied' end
        or decision.decided_at is distinct from coalesce(payouts.paid_at, payouts.denied_at)`,
    ),
  },
];

/**
 * A fee belongs to its attempt's environment; a person's account to live, a sandbox player's to
 * test.
 */
const ENVIRONMENTS: EnvironmentsOfIds = `
  select id, environment from ledger_accounts
  union all
  select id, environment from houses
  union all
  select accounts.id, houses.environment from accounts join houses on houses.id = accounts.house_id
  union all
  select id, environment from transfers
  union all
  select attempt_id, environment from transfers where kind = 'fee' and state = 'posted'
  union all
  select award_id, environment from payouts`;

/** Runs all checks over everything, in one snapshot. */
export function runAudit(database: Database, signal?: AbortSignal): Promise<CheckResult[]> {
  return runChecks(database, CHECKS, ENVIRONMENTS, signal);
}

/**
 * Runs the same checks in slices. Three run whole each time: the sum of all balances, the accounts
 * of each house, and the guards. They read accounts, houses and the catalog, and no transfer.
 */
export function createLedgerAudit(database: Database, limits: SliceLimits = {}): SlicedAudit {
  return createSlicedAudit({
    database,
    checks: CHECKS,
    walks: WALKS,
    environments: ENVIRONMENTS,
    startSums: START_SUMS,
    ...limits,
  });
}
