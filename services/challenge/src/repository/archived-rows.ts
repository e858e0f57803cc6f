/**
 * The rows of a month for the archive, each as JSON with every column. A month is a range of
 * attempt ids; the ids of awards derive from them, and have the same range.
 */
import type { Queryable, Statement } from '@laurel/postgres';

/** The tables of the archive, each with the column that orders its file. */
export const ARCHIVED_KEYS = {
  signing_keys: 'id',
  challenges: 'id',
  award_reviews: 'award_id',
  attempts: 'id',
  outcomes: 'attempt_id',
  awards: 'attempt_id',
} as const;
export type ArchivedTable = keyof typeof ARCHIVED_KEYS;

/** Challenges and keys are in each month, as they are when it is written. */
export function isOfEachMonth(table: ArchivedTable): boolean {
  return table === 'signing_keys' || table === 'challenges';
}

type Range = { readonly leastId: string; readonly endId: string };
type LineRow = { key: string; line: string };
export type TotalRow = { table: string; environment: string; status: string; rows: bigint; cents: string };

const LOWEST_ID = '00000000-0000-0000-0000-000000000000';
const HIGHEST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

const PAGE_OF_KEYS: Statement = {
  text: `
select k.id::text as key, row_to_json(k)::text as line from signing_keys k
where k.id > $1::int and $2::text is not null order by k.id limit $3`,
};
const PAGE_OF_CHALLENGES: Statement = {
  text: 'select c.id as key, row_to_json(c)::text as line from challenges c where c.id > $1 and c.id <= $2 order by c.id limit $3',
};
const PAGE_OF_REVIEWS: Statement = {
  text: `
select r.award_id as key, row_to_json(r)::text as line from award_reviews r
where r.award_id > $1 and r.award_id < $2 order by r.award_id limit $3`,
};
const PAGE_OF_ATTEMPTS: Statement = {
  text: 'select a.id as key, row_to_json(a)::text as line from attempts a where a.id > $1 and a.id < $2 order by a.id limit $3',
};
const PAGE_OF_OUTCOMES: Statement = {
  text: `
select o.attempt_id as key, row_to_json(o)::text as line from outcomes o
where o.attempt_id > $1 and o.attempt_id < $2 order by o.attempt_id limit $3`,
};
const PAGE_OF_AWARDS: Statement = {
  text: `
select w.attempt_id as key, row_to_json(w)::text as line from awards w
where w.attempt_id > $1 and w.attempt_id < $2 order by w.attempt_id limit $3`,
};
const PAGES: Readonly<Record<ArchivedTable, Statement>> = {
  signing_keys: PAGE_OF_KEYS,
  challenges: PAGE_OF_CHALLENGES,
  award_reviews: PAGE_OF_REVIEWS,
  attempts: PAGE_OF_ATTEMPTS,
  outcomes: PAGE_OF_OUTCOMES,
  awards: PAGE_OF_AWARDS,
};

// The award of an attempt has the attempt's id in it, so both ranges are one.
const TOTALS: Statement = {
  text: `
select 'attempts' as table, c.environment, a.status, count(*) as rows, sum(a.fee_cents)::text as cents
from attempts a join challenges c on c.id = a.challenge_id
where a.id > $1 and a.id < $2 group by c.environment, a.status
union all
select 'awards', c.environment, w.status, count(*), sum(w.amount_cents)::text
from awards w join challenges c on c.id = w.challenge_id
where w.attempt_id > $1 and w.attempt_id < $2 group by c.environment, w.status`,
};

const UNFINISHED: Statement = {
  text: `
(select 'the attempt ' || a.id || ' is ' || a.status as clause from attempts a
 where a.id > $1 and a.id < $2 and a.status not in ('settled', 'expired', 'voided', 'refused') order by a.id limit 5)
union all
(select 'the fee of ' || r.attempt_id || ' is due back' from refunds_due r
 where r.attempt_id > $1 and r.attempt_id < $2 order by r.attempt_id limit 5)
union all
(select 'the award ' || w.id || ' is ' || w.status from awards w
 where w.attempt_id > $1 and w.attempt_id < $2 and w.status not in ('paid', 'denied') order by w.attempt_id limit 5)
union all
(select 'the outcome of ' || s.attempt_id || ' waits for its monitor' from ramp_slots s
 where s.attempt_id > $1 and s.attempt_id < $2 order by s.attempt_id limit 5)`,
};

const PRESENT: Statement = { text: 'select now() as present' };
const OLDEST: Statement = { text: 'select id from attempts order by id limit 1' };

/** Rows of the table in the order of its key, above `after`; null before the first page. */
export async function pageOfArchived(
  on: Queryable,
  table: ArchivedTable,
  { month, after, limit }: { readonly month: Range; readonly after: string | null; readonly limit: number },
): Promise<readonly { key: string; json: string }[]> {
  const [least, end] = rangeOf(table, month);
  const rows = await on.query<LineRow>(PAGES[table], [after ?? least, end, limit]);
  return rows.map(({ key, line }) => ({ key, json: line }));
}

function rangeOf(table: ArchivedTable, { leastId, endId }: Range): readonly [string, string] {
  if (table === 'signing_keys') return ['0', ''];
  return table === 'challenges' ? [LOWEST_ID, HIGHEST_ID] : [leastId, endId];
}

/** What the month's attempts and awards add up to. */
export function loadArchivedTotals(on: Queryable, { leastId, endId }: Range): Promise<TotalRow[]> {
  return on.query<TotalRow>(TOTALS, [leastId, endId]);
}

/** What of the month may still change, some of each kind, as clauses. */
export async function loadUnfinished(on: Queryable, { leastId, endId }: Range): Promise<readonly string[]> {
  return (await on.query<{ clause: string }>(UNFINISHED, [leastId, endId])).map(({ clause }) => clause);
}

/** The id of the oldest attempt; null without attempts. */
export async function oldestAttemptId(on: Queryable): Promise<string | null> {
  return (await on.query<{ id: string }>(OLDEST))[0]?.id ?? null;
}

export async function loadPresent(on: Queryable): Promise<Date> {
  const [row] = await on.query<{ present: Date }>(PRESENT);
  if (row === undefined) throw new Error('the database has no time');
  return row.present;
}
