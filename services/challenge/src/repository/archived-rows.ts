/**
 * Reads the rows of a month for the archive, as JSON with every column. A month is a range of
 * attempt ids. The ids of awards derive from attempt ids, and lie in the same range.
 */
import { type ArchivedTable, loadTotals, type Total } from '@laurel/attempts/archive';
import type { Queryable, Statement } from '@laurel/postgres';

type Range = { readonly leastId: string; readonly endId: string };

const SIGNING_KEYS: Statement = {
  text: `
declare archived_lines no scroll cursor for
select k.id::text as key, row_to_json(k)::text as line from signing_keys k order by k.id`,
};
const CHALLENGES: Statement = {
  text: `
declare archived_lines no scroll cursor for
select c.id::text as key, row_to_json(c)::text as line from challenges c order by c.id`,
};
const AWARD_REVIEWS: Statement = {
  text: `
declare archived_lines no scroll cursor for
select r.award_id::text as key, row_to_json(r)::text as line from award_reviews r
where r.award_id > $1 and r.award_id < $2 order by r.award_id`,
};
const ATTEMPTS: Statement = {
  text: `
declare archived_lines no scroll cursor for
select a.id::text as key, row_to_json(a)::text as line from attempts a where a.id > $1 and a.id < $2 order by a.id`,
};
const OUTCOMES: Statement = {
  text: `
declare archived_lines no scroll cursor for
select o.attempt_id::text as key, row_to_json(o)::text as line from outcomes o
where o.attempt_id > $1 and o.attempt_id < $2 order by o.attempt_id`,
};
const AWARDS: Statement = {
  text: `
declare archived_lines no scroll cursor for
select w.attempt_id::text as key, row_to_json(w)::text as line from awards w
where w.attempt_id > $1 and w.attempt_id < $2 order by w.attempt_id`,
};

/**
 * The tables of the archive. Challenges and signing keys are written whole into each month, in
 * their state at that time.
 */
export const ARCHIVED_TABLES: Readonly<Record<string, ArchivedTable>> = {
  signing_keys: { key: ['id'], isOfEachMonth: true, declare: SIGNING_KEYS },
  challenges: { key: ['id'], isOfEachMonth: true, declare: CHALLENGES },
  award_reviews: { key: ['award_id'], declare: AWARD_REVIEWS },
  attempts: { key: ['id'], declare: ATTEMPTS },
  outcomes: { key: ['attempt_id'], declare: OUTCOMES },
  awards: { key: ['attempt_id'], declare: AWARDS },
};

// An award contains the id of its attempt, so one range selects attempts and awards.
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
(select 'it is being deleted' as clause from archived_months m where m.least_id = $1)
union all
(select 'the attempt ' || a.id || ' is ' || a.status from attempts a
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

const OLDEST: Statement = { text: 'select id from attempts order by id limit 1' };

/** Loads the totals of the month's attempts and awards. */
export function loadArchivedTotals(on: Queryable, { leastId, endId }: Range): Promise<readonly Total[]> {
  return loadTotals(on, TOTALS, [leastId, endId]);
}

/** Lists rows of the month that may still change, as clauses; of each kind of row only some. */
export async function loadUnfinished(on: Queryable, { leastId, endId }: Range): Promise<readonly string[]> {
  return (await on.query<{ clause: string }>(UNFINISHED, [leastId, endId])).map(({ clause }) => clause);
}

/** Returns the id of the oldest attempt; null if there are no attempts. */
export async function oldestAttemptId(on: Queryable): Promise<string | null> {
  return (await on.query<{ id: string }>(OLDEST))[0]?.id ?? null;
}
