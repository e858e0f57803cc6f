/**
 * The money of each program by UTC day, and that of all programs. A worker counts it from the
 * ledger, behind the writes: charges and payouts neither write nor lock anything for it.
 *
 * A block range index leads to the transfers of days (wallet migration 0032): PostgreSQL keeps the
 * instants of each range of pages, and no charge writes it. So a count reads the pages of its days,
 * however large the ledger is.
 */
import type { Database, Statement, Transaction } from '@laurel/postgres';
import { TOP } from '@laurel/values/cursor';
import { type Cents, cents } from '@laurel/values/money';
import type { Environment } from '@laurel/values/tenant';
import { UNNAMED_PROGRAM } from '../domain/counted-day.ts';
import { MAX_HELD_PAYOUTS } from './program-money.ts';

/** The timeout is that of an audit's check: it suffices for a day of some ten million transfers. */
const COUNT_TIMEOUT_MS = 120_000;

/**
 * SQL that selects each amount that counts for a program's day, from `since` on and before `until`,
 * with its day, environment and program. The transfer of a refund or a payout names no program, so
 * the program comes from the refunded fee or from the payout. In test the house also identifies the
 * program.
 */
export function dayAmountsSql(since: string, until?: string): string {
  return `${movedAmountsSql('transfers', since, until)} union all ${decidedAmountsSql('payouts', since, until)}`;
}

const duringSql = (instant: string, since: string, until: string | undefined) =>
  `${instant} >= ${since}${until === undefined ? '' : ` and ${instant} < ${until}`}`;

/** The amounts that transfers moved; `rows` is the table, or some of its rows. */
export function movedAmountsSql(rows: string, since: string, until?: string): string {
  return `
    select (moved.created_at at time zone 'UTC')::date as day, moved.environment,
      coalesce(fee.program_id, payout.program_id, moved.program_id,
        case when moved.environment = 'test' then coalesce(fee.house_id, moved.house_id) end, '${UNNAMED_PROGRAM}') as program_id,
      case moved.kind when 'fee' then 'fees' when 'refund' then 'refunds' else 'paid' end as kind, moved.amount_cents
    from ${rows} as moved
    left join lateral (
      select transfers.program_id, transfers.house_id from transfers
      where moved.kind = 'refund' and transfers.id = moved.fee_transfer_id limit 1
    ) as fee on true
    left join lateral (
      select payouts.program_id from payouts
      where moved.kind in ('award', 'purse') and payouts.award_id = moved.award_id limit 1
    ) as payout on true
    where moved.state = 'posted' and moved.kind <> 'deposit' and ${duringSql('moved.created_at', since, until)}`;
}

/** The amounts of payouts that were held or denied. */
export function decidedAmountsSql(rows: string, since: string, until?: string): string {
  return `
    select (decided.created_at at time zone 'UTC')::date as day, environment, program_id, 'held' as kind, amount_cents
    from ${rows} as decided where reason is not null and ${duringSql('decided.created_at', since, until)}
    union all
    select (decided.denied_at at time zone 'UTC')::date, environment, program_id, 'denied', amount_cents
    from ${rows} as decided where status = 'denied' and ${duringSql('decided.denied_at', since, until)}`;
}

const KINDS = ['fees', 'refunds', 'paid', 'held', 'denied'];

/** The columns of a day's money. */
export const DAY_COLUMNS = KINDS.map((kind) => `${kind}_cents`);

/** The SQL columns that sum the amounts of each kind over a group. */
export const KIND_SUMS = KINDS.map(
  (kind) => `coalesce(sum(amount_cents) filter (where kind = '${kind}'), 0)::bigint as ${kind}_cents`,
).join(', ');

/** The SQL columns that sum each column of days over a group. */
export const DAY_COLUMN_SUMS = DAY_COLUMNS.map((column) => `sum(${column})::bigint as ${column}`).join(', ');

const LEASE: Statement = {
  name: 'day_counts_lease',
  text: `
    update day_counts set next_run_at = $2 where id = 1 and next_run_at <= $1 returning open_from::text as open_from`,
};

// Every writer of `program_days` and `environment_days` holds this lock.
const LOCK_LEASED: Statement = {
  name: 'day_counts_lock_leased',
  text: 'select 1 from day_counts where id = 1 and next_run_at = $1 for no key update',
};

// These statements look rows up by indexes, so just-in-time compilation costs more than it saves.
const WITHOUT_JIT: Statement = { text: `select set_config('jit', 'off', true)` };

const SINCE = `($1::date::timestamp at time zone 'UTC')`;
const UNTIL = `($2::date::timestamp at time zone 'UTC')`;

const IS_WITHIN: Statement = {
  name: 'transfers_of_days_are_within',
  text: `
    select count(*) <= $3::int as is_within
    from (
      select from transfers
      where state = 'posted' and kind <> 'deposit' and ${duringSql('created_at', SINCE, UNTIL)} limit $3::int + 1
    ) as moved`,
};

const DELETE_OPEN: Statement = {
  name: 'program_days_delete_open',
  text: 'delete from program_days where day >= $1::date and day < $2::date',
};

const COUNT: Statement = {
  name: 'program_days_count',
  text: `
    insert into program_days (day, environment, program_id, fees_cents, refunds_cents, paid_cents, held_cents, denied_cents)
    select day, environment, program_id, ${KIND_SUMS}
    from (${dayAmountsSql(SINCE, UNTIL)}) as amount
    group by day, environment, program_id
    order by day, environment, program_id`,
};

// Days that the previous release closed are not in environment_days yet.
const SUMMED = `
  day >= least($1::date, (select coalesce(environments_open_from, '-infinity') from day_counts)) and day < $2::date`;

const DELETE_SUMMED: Statement = {
  name: 'environment_days_delete_open',
  text: `delete from environment_days where ${SUMMED}`,
};

const SUM: Statement = {
  name: 'environment_days_sum',
  text: `
    insert into environment_days (day, environment, fees_cents, refunds_cents, paid_cents, held_cents, denied_cents)
    select day, environment, ${DAY_COLUMN_SUMS} from program_days where ${SUMMED}
    group by day, environment
    order by day, environment`,
};

const CLOSE: Statement = {
  name: 'day_counts_close',
  text: `
    update day_counts set next_run_at = $1, open_from = $2::date, environments_open_from = $2::date where id = 1`,
};

const FINISH: Statement = {
  name: 'day_counts_finish',
  text: `
    update day_counts set next_run_at = $1, open_from = $2::date, environments_open_from = $2::date, counted_at = $3
    where id = 1`,
};

const POSTPONE: Statement = {
  name: 'day_counts_postpone',
  text: 'update day_counts set next_run_at = $2 where id = 1 and next_run_at = $1',
};

/** The right to count until `leasedUntil`, and the first day that is not closed. */
export type DayLease = { readonly leasedUntil: Date; readonly openFrom: string };

/** Leases the next run until `leasedUntil`; null if no run is due, or another replica runs it. */
export async function leaseDayCount(database: Database, now: Date, leasedUntil: Date): Promise<DayLease | null> {
  const [row] = await database.query<{ open_from: string }>(LEASE, [now, leasedUntil]);
  return row === undefined ? null : { leasedUntil, openFrom: row.open_from };
}

/**
 * Whether the ledger has at most this many transfers, without deposits, from day `from` to before
 * `until`.
 */
export async function hasAtMostTransfers(
  database: Database,
  from: string,
  until: string,
  transfers: number,
): Promise<boolean> {
  const [row] = await database.query<{ is_within: boolean }>(IS_WITHIN, [from, until, transfers]);
  return row?.is_within === true;
}

/**
 * Counts the days from the first open one on and before `until`, which are closed from then on.
 * Returns the lease of the next days. Changes nothing if the lease was lost meanwhile.
 */
export async function closeDays(
  database: Database,
  lease: DayLease,
  { until, leasedUntil }: { readonly until: string; readonly leasedUntil: Date },
): Promise<DayLease> {
  await replaceDays(database, lease, until, (tx) => tx.query(CLOSE, [leasedUntil, until]));
  return { leasedUntil, openFrom: until };
}

/**
 * Counts all days from the first open one on; days before `closedBefore` are closed from then on.
 * Changes nothing if the lease was lost meanwhile.
 */
export async function countDays(
  database: Database,
  lease: DayLease,
  {
    now,
    closedBefore,
    nextRunAt,
  }: { readonly now: Date; readonly closedBefore: string; readonly nextRunAt: () => Date },
): Promise<void> {
  await replaceDays(database, lease, 'infinity', (tx) => tx.query(FINISH, [nextRunAt(), closedBefore, now]));
}

async function replaceDays(
  database: Database,
  { leasedUntil, openFrom }: DayLease,
  until: string,
  move: (tx: Transaction) => Promise<unknown>,
): Promise<void> {
  await database.transaction(
    async (tx) => {
      await tx.query(WITHOUT_JIT);
      const leased = await tx.query(LOCK_LEASED, [leasedUntil]);
      if (leased.length === 0) throw new Error('the lease of the count of days went to another replica');
      for (const statement of [DELETE_OPEN, COUNT, DELETE_SUMMED, SUM]) await tx.query(statement, [openFrom, until]);
      await move(tx);
    },
    { statementTimeoutMs: COUNT_TIMEOUT_MS },
  );
}

/** Ends a run that did not reach the open days. */
export async function postponeDayCount(database: Database, leasedUntil: Date, nextRunAt: Date): Promise<void> {
  await database.query(POSTPONE, [leasedUntil, nextRunAt]);
}

export type MoneySums = {
  readonly feesCents: Cents;
  readonly refundsCents: Cents;
  readonly paidCents: Cents;
  readonly heldCents: Cents;
  readonly deniedCents: Cents;
};

export type MoneyOfProgram = MoneySums & { readonly environment: Environment; readonly programId: string };
export type MoneyOfDay = MoneySums & { readonly environment: Environment; readonly day: string };

/** Days from `from` to `to`, both included; null stands for every environment or program. */
export type MoneyFilter = {
  readonly from: string;
  readonly to: string;
  readonly environment: Environment | null;
  readonly programId: string | null;
};

type SumsRow = {
  fees_cents: bigint;
  refunds_cents: bigint;
  paid_cents: bigint;
  held_cents: bigint;
  denied_cents: bigint;
};

const FILTER = `day between $1::date and $2::date and ($3::text is null or environment = $3)`;

const daysSql = (table: string, where: string) => `
    select ${table}.day::text as day, environment, ${DAY_COLUMNS.join(', ')}
    from ${table} where ${where} order by ${table}.day, environment desc`;

const DAYS_OF_ALL: Statement = { name: 'list_environment_days', text: daysSql('environment_days', FILTER) };

const DAYS_OF_ONE: Statement = {
  name: 'list_program_days',
  text: daysSql('program_days', `program_id = $4 and ${FILTER}`),
};

// One look-up in the index by program finds the next program, and another one finds whether it has
// a day of the period. So a page reads only the days of its own programs.
const PAGE: Statement = {
  name: 'page_of_program_days',
  text: `
    with recursive known as (
      (
        select program_id from program_days where program_id < coalesce($4::uuid, '${TOP.id}')
        order by program_id desc limit 1
      )
      union all
      select (
        select below.program_id from program_days as below
        where below.program_id < known.program_id order by below.program_id desc limit 1
      )
      from known where known.program_id is not null
    ), page as materialized (
      select known.program_id from known
      cross join lateral (
        select from program_days where program_days.program_id = known.program_id and ${FILTER} limit 1
      ) as counted
      limit $5
    )
    select page.program_id, sums.* from page
    cross join lateral (
      select environment, ${DAY_COLUMN_SUMS} from program_days
      where program_days.program_id = page.program_id and ${FILTER} group by environment
    ) as sums
    order by page.program_id desc, environment desc`,
};

const PAGE_OF_ONE: Statement = {
  name: 'page_of_days_of_program',
  text: `
    select program_id, environment, ${DAY_COLUMN_SUMS} from program_days where program_id = $4 and ${FILTER}
    group by program_id, environment order by environment desc`,
};

const COUNTED_AT: Statement = { name: 'days_counted_at', text: 'select counted_at from day_counts' };

/** The money of each day and environment, oldest first. */
export async function listDays(
  database: Database,
  { from, to, environment, programId }: MoneyFilter,
): Promise<readonly MoneyOfDay[]> {
  type Row = SumsRow & { environment: Environment; day: string };
  const rows =
    programId === null
      ? await database.query<Row>(DAYS_OF_ALL, [from, to, environment])
      : await database.query<Row>(DAYS_OF_ONE, [from, to, environment, programId]);
  return rows.map((row) => ({ day: row.day, environment: row.environment, ...toSums(row) }));
}

/** The sums of programs with money in the period, newest program first, below a program's id. */
export async function listProgramSums(
  database: Database,
  { from, to, environment, programId }: MoneyFilter,
  { beforeProgramId, limit }: { readonly beforeProgramId: string | null; readonly limit: number },
): Promise<readonly MoneyOfProgram[]> {
  type Row = SumsRow & { environment: Environment; program_id: string };
  const rows =
    programId === null
      ? await database.query<Row>(PAGE, [from, to, environment, beforeProgramId, limit])
      : await database.query<Row>(PAGE_OF_ONE, [from, to, environment, programId]);
  return rows.map((row) => ({ environment: row.environment, programId: row.program_id, ...toSums(row) }));
}

/** The instant of the last count of the open days; null before the first count. */
export async function findCountedAt(database: Database): Promise<Date | null> {
  const [row] = await database.query<{ counted_at: Date | null }>(COUNTED_AT);
  return row?.counted_at ?? null;
}

// In live all programs share a house, so what the house keeps of one program is summed from the
// program's days.
const KEPT_OF_ONE: Statement = {
  name: 'kept_of_program',
  text: `
    select environment, sum(fees_cents - refunds_cents - paid_cents)::bigint as kept_cents from program_days
    where program_id = $1 and ($2::text is null or environment = $2) group by environment`,
};

const KEPT_OF_ALL: Statement = {
  name: 'kept_of_houses',
  text: `
    select environment, sum(balance_cents)::bigint as kept_cents from ledger_accounts
    where kind <> 'player' and kind in ('house_fees', 'house_prizes', 'house_purses') and ($1::text is null or environment = $1)
    group by environment`,
};

/** What the houses keep of all contests since the beginning: fees less refunds and payouts. */
export async function sumKept(
  database: Database,
  { environment, programId }: Pick<MoneyFilter, 'environment' | 'programId'>,
): Promise<ReadonlyMap<Environment, Cents>> {
  type Row = { environment: Environment; kept_cents: bigint };
  const rows =
    programId === null
      ? await database.query<Row>(KEPT_OF_ALL, [environment])
      : await database.query<Row>(KEPT_OF_ONE, [programId, environment]);
  return new Map(rows.map((row) => [row.environment, cents(row.kept_cents)]));
}

const HELD_NOW: Statement = {
  name: 'sum_held_now',
  text: `
    select held.environment, sum(held.amount_cents)::bigint as held_cents
    from (
      select payouts.environment, payouts.program_id, payouts.amount_cents from payouts
      where payouts.status = 'held' order by payouts.created_at desc, payouts.award_id desc limit ${MAX_HELD_PAYOUTS}
    ) as held
    where ($1::text is null or held.environment = $1) and ($2::uuid is null or held.program_id = $2)
    group by held.environment`,
};

/** The sum of the payouts that are held now, among the newest held payouts of all programs. */
export async function sumHeldNow(
  database: Database,
  { environment, programId }: Pick<MoneyFilter, 'environment' | 'programId'>,
): Promise<ReadonlyMap<Environment, Cents>> {
  type Row = { environment: Environment; held_cents: bigint };
  const rows = await database.query<Row>(HELD_NOW, [environment, programId]);
  return new Map(rows.map((row) => [row.environment, cents(row.held_cents)]));
}

function toSums(row: SumsRow): MoneySums {
  return {
    feesCents: cents(row.fees_cents),
    refundsCents: cents(row.refunds_cents),
    paidCents: cents(row.paid_cents),
    heldCents: cents(row.held_cents),
    deniedCents: cents(row.denied_cents),
  };
}
