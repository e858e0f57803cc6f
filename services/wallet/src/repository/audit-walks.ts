/**
 * How the continuous audit reads the ledger in slices (libs/postgres/src/sliced-audit.ts): the
 * order in which a pass reads the tables, and the rows of a slice that each audit rule reads.
 */
import { inSnapshotSql, type Rows, rowsOf, sharedRows, type Walk } from '@laurel/postgres';
import { SHARED_SANDBOX } from '../domain/ledger.ts';
import { decidedAmountsSql, movedAmountsSql } from './program-days.ts';

const ALWAYS = `'-infinity'::timestamptz`;

export const TRANSFERS = rowsOf('transfers', 'transfers', 'id');
export const PAYOUTS = rowsOf('payouts', 'payouts', 'award_id');
export const DECISIONS = rowsOf('decisions', 'payout_decisions', 'award_id');
export const LEDGERS = rowsOf('ledgers', 'ledger_accounts', 'id');
export const ACCOUNTS = rowsOf('accounts', 'accounts', 'id');

/** The lines of players' statements, by player. */
export const LINES: Rows = sharedRows(
  LEDGERS.walk,
  `(select player_ledger_id as key, transfers.* from transfers where transfers.state = 'posted')`,
  `select slice.key, transfers.* from slice
   join transfers on transfers.player_ledger_id = slice.key and transfers.state = 'posted'`,
  'walked_lines',
);

/** Payouts by program. One index covers counted payouts, another those that are paid. */
export const PAYOUTS_OF_PROGRAMS: Rows = sharedRows(
  'programs',
  '(select program_id as key, payouts.* from payouts)',
  `select slice.key, payouts.* from slice
   join payouts on payouts.program_id = slice.key and payouts.program_paid_cents is not null
   union all
   select slice.key, payouts.* from slice
   join payouts on payouts.program_id = slice.key and payouts.program_paid_cents is null and payouts.paid_at is not null`,
);

/** The names in `audit_sums` of the sums that a pass adds up. */
export const SUM = {
  /** What the pass’s transfers moved, by account, without a player’s own lines. */
  moved: 'moved',
  /** The balances of the houses’ accounts when the pass began. */
  balance: 'balance',
  /** Play money that moved between houses before transfers named their house, by house. */
  unhoused: 'unhoused',
  /** The amounts of a program’s days, by day, environment, program and kind. */
  days: 'days',
  /** The key of this sum is the first day that was open when the pass began. */
  openFrom: 'open_from',
} as const;

/**
 * The sums with which a pass begins. Days that are closed by then do not change during the pass.
 */
export const START_SUMS = `
  select '${SUM.balance}' as name, id::text as key, balance_cents as cents from ledger_accounts where kind <> 'player'
  union all
  select '${SUM.openFrom}', open_from::text, 0 from day_counts`;

/**
 * Every leg except a player's own: the walk of accounts reads those legs (LINES). The legs of a
 * player whose account is missing count here.
 */
const movedSql = `
  select '${SUM.moved}' as name, leg.id::text as key, leg.cents
  from slice
  join transfers as transfer on transfer.id = slice.key
  cross join pass
  left join ledger_accounts as player on player.id = transfer.player_ledger_id and player.kind = 'player'
  cross join lateral (
    values (transfer.credit_id, transfer.amount_cents), (transfer.debit_id, -transfer.amount_cents)
  ) as leg (id, cents)
  where transfer.state = 'posted' and leg.id is not null and leg.id is distinct from player.id
    and ${inSnapshotSql('transfer', 'transfer.created_at')}`;

const unhousedSql = `
  select '${SUM.unhoused}', side.house_id::text, side.cents
  from ${unhousedSides(TRANSFERS.inSlice)} as side`;

/** What each house lost and gained by play money that moved before there were houses. */
export function unhousedSides(transfers: string): string {
  return `(
        select side.house_id, side.cents
        from ${transfers} as transfers
        join ledger_accounts as player on player.id = transfers.player_ledger_id
        cross join lateral (
          select case when credit_id = player_ledger_id then amount_cents else -amount_cents end as cents
        ) as moved
        cross join lateral (
          values (player.house_id, -moved.cents), ('${SHARED_SANDBOX}'::uuid, moved.cents)
        ) as side (house_id, cents)
        where transfers.state = 'posted' and transfers.environment = 'test' and transfers.house_id is null)`;
}

const daysSql = (amounts: string) => `
  select '${SUM.days}' as name, concat_ws('|', day, environment, program_id, kind) as key, amount_cents as cents
  from (${amounts}) as amount`;

/**
 * New transfers, by their instant. A new row may be on any page, because an archived month leaves
 * free pages, and neither the hash of a deposit's reference nor the id of a refund or a prize shows
 * when the row was written. Every transfer is covered by exactly one of two indexes:
 * transfers_by_instant_idx and transfers_deposits_and_tombstones_idx.
 */
const NEW_TRANSFERS = `
  select id as key from transfers
  where state = 'posted' and kind <> 'deposit' and created_at >= $1 and created_at < $2
  union all
  select id from transfers
  where (kind = 'deposit' or state <> 'posted') and created_at >= $1 and created_at < $2`;

/** The walks, in the order of a pass: the walk of accounts needs the sums of all transfers. */
export const WALKS: readonly Walk[] = [
  {
    name: 'transfers',
    shared: TRANSFERS.shared,
    pageSize: 2_000,
    page: 'select id as key from transfers where id > $1 order by id limit $2',
    sums: [movedSql, unhousedSql, daysSql(movedAmountsSql(TRANSFERS.inSlice, ALWAYS))].join(' union all '),
    tail: { keysBetween: NEW_TRANSFERS },
  },
  {
    name: 'payouts',
    shared: PAYOUTS.shared,
    pageSize: 2_000,
    page: 'select award_id as key from payouts where award_id > $1 order by award_id limit $2',
    sums: daysSql(decidedAmountsSql(PAYOUTS.inSlice, ALWAYS)),
  },
  {
    name: 'decisions',
    shared: DECISIONS.shared,
    pageSize: 2_000,
    page: 'select award_id as key from payout_decisions where award_id > $1 order by award_id limit $2',
  },
  {
    name: LEDGERS.walk,
    shared: { ...LEDGERS.shared, ...LINES.shared },
    // A slice reads all lines of its accounts.
    pageSize: 200,
    page: 'select id as key from ledger_accounts where id > $1 order by id limit $2',
  },
  {
    name: 'accounts',
    shared: ACCOUNTS.shared,
    pageSize: 2_000,
    page: 'select id as key from accounts where id > $1 order by id limit $2',
  },
  {
    name: 'programs',
    shared: PAYOUTS_OF_PROGRAMS.shared,
    // A slice reads all payouts of its program.
    pageSize: 1,
    page: `
      select key
      from (
        (select program_id as key from payouts where program_id > $1 and program_paid_cents is not null order by program_id limit $2)
        union
        (select program_id from payouts where program_id > $1 and program_paid_cents is null and paid_at is not null
          order by program_id limit $2)
      ) as program
      order by key limit $2`,
  },
];
