/**
 * Reads the rows of a month of the ledger for the archive, as JSON. The lines of a month are a
 * consecutive part of each player's statement: a line belongs to the month of the earliest instant
 * among the line itself and the lines after it. This is the line's own month, except that two
 * replicas with different clocks may post lines of one player within milliseconds of each other.
 *
 * The instant of a line is never changed, and no line is posted with an instant of days ago. So a
 * month that ended days ago has the same lines for ever.
 */
import { type ArchivedTable, loadTotals, type Total } from '@laurel/attempts/archive';
import type { Queryable, Statement } from '@laurel/postgres';

type Range = { readonly from: Date; readonly until: Date };

/** More than the clocks of two replicas differ. */
const SKEW = `interval '1 hour'`;

/** SQL: whether a line was posted between the instants. Each part of the condition has an index. */
const duringSql = (from: string, until: string) => `
    state = 'posted' and (
      state = 'posted' and kind <> 'deposit' and created_at >= ${from} and created_at < ${until}
      or (kind = 'deposit' or state <> 'posted') and created_at >= ${from} and created_at < ${until})`;

/** The lines around the month, with the instants that decide about their month. */
const DATED_LINES = `
  select t as transfer, t.player_ledger_id, t.seq, t.environment, t.house_id, t.kind, t.amount_cents, t.player_balance_after_cents,
    t.kind = 'fee' as is_debit, case when t.kind = 'fee' then t.credit_id else t.debit_id end as house_ledger_id,
    min(t.created_at) over (partition by t.player_ledger_id order by t.seq desc) as dated_at
  from transfers t
  where ${duringSql(`$1::timestamptz - ${SKEW}`, `$2::timestamptz + ${SKEW}`)}`;

const TRANSFERS: Statement = {
  text: `
declare archived_lines no scroll cursor for
select concat_ws(' ', line.player_ledger_id, line.seq) as key, row_to_json(line.transfer)::text as line
from (${DATED_LINES}) as line
where line.dated_at >= $1 and line.dated_at < $2 order by line.player_ledger_id, line.seq`,
};

const TOMBSTONES: Statement = {
  text: `
declare archived_lines no scroll cursor for
select t.id::text as key, row_to_json(t)::text as line from transfers t
where (t.kind = 'deposit' or t.state <> 'posted') and t.state <> 'posted' and t.created_at >= $1 and t.created_at < $2 order by t.id`,
};

const PLAYER_BALANCES: Statement = {
  text: `
declare archived_lines no scroll cursor for
select moved.id::text as key, row_to_json(moved)::text as line
from (
  select ledger.id, ledger.account_id, ledger.environment, ledger.house_id, sum.lines, sum.moved_cents, sum.balance_cents
  from (
    select line.player_ledger_id, count(*) as lines, sum(case when is_debit then -amount_cents else amount_cents end)::bigint as moved_cents,
      (array_agg(player_balance_after_cents order by seq desc))[1] as balance_cents
    from (${DATED_LINES}) as line
    where line.dated_at >= $1 and line.dated_at < $2 group by line.player_ledger_id
  ) as sum
  join ledger_accounts as ledger on ledger.id = sum.player_ledger_id
) as moved
order by moved.id`,
};

// The balance after the month is today's balance without the lines after the month. So it needs no
// lines of earlier months.
const HOUSE_BALANCES: Statement = {
  text: `
declare archived_lines no scroll cursor for
select moved.id::text as key, row_to_json(moved)::text as line
from (
  select ledger.id, ledger.kind, ledger.environment, ledger.house_id, sum.lines, sum.moved_cents,
    ledger.balance_cents - sum.later_cents as balance_cents
  from (
    select part.house_ledger_id, sum(part.lines)::bigint as lines, sum(part.moved_cents)::bigint as moved_cents,
      sum(part.later_cents)::bigint as later_cents
    from (
      select house_ledger_id, (dated_at < $2)::int as lines, case when dated_at < $2 then cents else 0 end as moved_cents,
        case when dated_at < $2 then 0 else cents end as later_cents
      from (select *, case when is_debit then amount_cents else -amount_cents end as cents from (${DATED_LINES}) as line) as line
      where line.dated_at >= $1
      union all
      select case when kind = 'fee' then credit_id else debit_id end, 0, 0, case when kind = 'fee' then amount_cents else -amount_cents end
      from transfers
      where ${duringSql(`$2::timestamptz + ${SKEW}`, `'infinity'`)}
    ) as part
    group by part.house_ledger_id
  ) as sum
  join ledger_accounts as ledger on ledger.id = sum.house_ledger_id
  where sum.lines > 0
) as moved
order by moved.id`,
};

/** The files of a month. Balances are those after the month, of accounts that the month moved. */
export const ARCHIVED_TABLES: Readonly<Record<string, ArchivedTable>> = {
  transfers: { key: ['player_ledger_id', 'seq'], declare: TRANSFERS },
  tombstones: { key: ['id'], declare: TOMBSTONES },
  player_balances: { key: ['id'], declare: PLAYER_BALANCES },
  house_balances: { key: ['id'], declare: HOUSE_BALANCES },
};

const TOTALS: Statement = {
  text: `
select 'transfers' as table, line.environment, line.kind as status, count(*) as rows, sum(line.amount_cents)::text as cents
from (${DATED_LINES}) as line
where line.dated_at >= $1 and line.dated_at < $2 group by line.environment, line.kind
union all
select 'tombstones', coalesce(t.environment, 'none'), t.state, count(*), '0'
from transfers t
where (t.kind = 'deposit' or t.state <> 'posted') and t.state <> 'posted' and t.created_at >= $1 and t.created_at < $2
group by t.environment, t.state`,
};

const OLDEST: Statement = { text: 'select min(created_at) as oldest from transfers' };

/** Adds up the lines of a month by environment and kind. */
export function loadArchivedTotals(on: Queryable, { from, until }: Range): Promise<readonly Total[]> {
  return loadTotals(on, TOTALS, [from, until]);
}

/** Returns the instant of the first transfer; null if there is none. */
export async function oldestInstant(on: Queryable): Promise<Date | null> {
  return (await on.query<{ oldest: Date | null }>(OLDEST))[0]?.oldest ?? null;
}
