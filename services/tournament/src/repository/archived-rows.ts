/**
 * The rows of a month for the archive, each as JSON with every column. A month has the rounds that
 * ended in it, by their `closes_at`, and every row of them. `closes_at` does not change once a
 * round is settled or cancelled.
 *
 * A cursor reads the rounds by id, and the rows of each by an index. It sorts the rows of one round
 * at a time. `offset 0` keeps the planner from reading the other table first, which has years of
 * rows. No index finds the rounds of a month: there are few of them beside their attempts.
 */
import { type ArchivedTable, loadTotals, type Total } from '@laurel/attempts/archive';
import type { Queryable, Statement } from '@laurel/postgres';

type Range = { readonly from: Date; readonly until: Date };

const SIGNING_KEYS: Statement = {
  text: `
declare archived_lines no scroll cursor for
select k.id::text as key, row_to_json(k)::text as line from signing_keys k order by k.id`,
};
const TOURNAMENTS: Statement = {
  text: `
declare archived_lines no scroll cursor for
select n.id::text as key, row_to_json(n)::text as line from tournaments n order by n.id`,
};
const ROUNDS: Statement = {
  text: `
declare archived_lines no scroll cursor for
select r.id::text as key, row_to_json(r)::text as line
from rounds r where r.closes_at >= $1 and r.closes_at < $2 order by r.id`,
};
const ROUND_TALLIES: Statement = {
  text: `
declare archived_lines no scroll cursor for
select t.round_id::text as key, row_to_json(t)::text as line
from rounds r cross join lateral (select * from round_tallies of_round where of_round.round_id = r.id offset 0) t
where r.closes_at >= $1 and r.closes_at < $2 order by r.id`,
};
const ROUND_CANCELLATIONS: Statement = {
  text: `
declare archived_lines no scroll cursor for
select x.round_id::text as key, row_to_json(x)::text as line
from rounds r cross join lateral (select * from round_cancellations of_round where of_round.round_id = r.id offset 0) x
where r.closes_at >= $1 and r.closes_at < $2 order by r.id`,
};
const ENTRIES: Statement = {
  text: `
declare archived_lines no scroll cursor for
select concat_ws(' ', e.round_id, e.account_id) as key, row_to_json(e)::text as line
from rounds r cross join lateral (select * from entries of_round where of_round.round_id = r.id offset 0) e
where r.closes_at >= $1 and r.closes_at < $2 order by r.id, e.account_id`,
};
// The order of texts must not depend on the collation of the database.
const ENTRY_REFS: Statement = {
  text: `
declare archived_lines no scroll cursor for
select concat_ws(' ', f.round_id, f.player_ref) as key, row_to_json(f)::text as line
from rounds r cross join lateral (select * from entry_refs of_round where of_round.round_id = r.id offset 0) f
where r.closes_at >= $1 and r.closes_at < $2 order by r.id, f.player_ref collate "C"`,
};
const ATTEMPTS: Statement = {
  text: `
declare archived_lines no scroll cursor for
select concat_ws(' ', a.round_id, a.account_id, a.id) as key, row_to_json(a)::text as line
from rounds r cross join lateral (select * from attempts of_round where of_round.round_id = r.id offset 0) a
where r.closes_at >= $1 and r.closes_at < $2 order by r.id, a.account_id, a.id`,
};
const OUTCOMES: Statement = {
  text: `
declare archived_lines no scroll cursor for
select o.attempt_id::text as key, row_to_json(o)::text as line
from rounds r cross join lateral (select * from attempts of_round where of_round.round_id = r.id offset 0) a
  cross join lateral (select * from outcomes of_attempt where of_attempt.attempt_id = a.id offset 0) o
where r.closes_at >= $1 and r.closes_at < $2 order by r.id, a.account_id, a.id`,
};
const ROUND_PAYOUTS: Statement = {
  text: `
declare archived_lines no scroll cursor for
select concat_ws(' ', p.round_id, p.final_rank) as key, row_to_json(p)::text as line
from rounds r cross join lateral (select * from round_payouts of_round where of_round.round_id = r.id offset 0) p
where r.closes_at >= $1 and r.closes_at < $2 order by r.id, p.final_rank`,
};
const AWARD_REVIEWS: Statement = {
  text: `
declare archived_lines no scroll cursor for
select w.award_id::text as key, row_to_json(w)::text as line
from rounds r cross join lateral (select * from round_payouts of_round where of_round.round_id = r.id offset 0) p
  cross join lateral (select * from award_reviews of_award where of_award.award_id = p.award_id offset 0) w
where r.closes_at >= $1 and r.closes_at < $2 order by r.id, p.final_rank`,
};
const SEALS: Statement = {
  text: `
declare archived_lines no scroll cursor for
select s.round_id::text as key, row_to_json(s)::text as line
from rounds r cross join lateral (select * from seals of_round where of_round.round_id = r.id offset 0) s
where r.closes_at >= $1 and r.closes_at < $2 order by r.id`,
};
const SEAL_NODES: Statement = {
  text: `
declare archived_lines no scroll cursor for
select concat_ws(' ', n.round_id, n.position) as key, row_to_json(n)::text as line
from rounds r cross join lateral (select * from seal_nodes of_round where of_round.round_id = r.id offset 0) n
where r.closes_at >= $1 and r.closes_at < $2 order by r.id, n.position`,
};

/**
 * The tables of the archive. Tournaments and keys are in each month, as they are when it is
 * written. The chunks of a board are counts of its entries, and are not archived.
 */
export const ARCHIVED_TABLES: Readonly<Record<string, ArchivedTable>> = {
  signing_keys: { key: ['id'], isOfEachMonth: true, declare: SIGNING_KEYS },
  tournaments: { key: ['id'], isOfEachMonth: true, declare: TOURNAMENTS },
  rounds: { key: ['id'], declare: ROUNDS },
  round_tallies: { key: ['round_id'], declare: ROUND_TALLIES },
  round_cancellations: { key: ['round_id'], declare: ROUND_CANCELLATIONS },
  entries: { key: ['round_id', 'account_id'], declare: ENTRIES },
  entry_refs: { key: ['round_id', 'player_ref'], declare: ENTRY_REFS },
  attempts: { key: ['round_id', 'account_id', 'id'], declare: ATTEMPTS },
  outcomes: { key: ['attempt_id'], followsAnother: true, declare: OUTCOMES },
  round_payouts: { key: ['round_id', 'final_rank'], declare: ROUND_PAYOUTS },
  award_reviews: { key: ['award_id'], followsAnother: true, declare: AWARD_REVIEWS },
  seals: { key: ['round_id'], declare: SEALS },
  seal_nodes: { key: ['round_id', 'position'], declare: SEAL_NODES },
};

const TOTALS: Statement = {
  text: `
select 'rounds' as table, r.environment, r.status, count(*) as rows,
  coalesce(sum((select sum(c) from unnest(r.purse_cents) as c)), 0)::text as cents
from rounds r where r.closes_at >= $1 and r.closes_at < $2 group by r.environment, r.status
union all
select 'attempts', r.environment, a.status, count(*), sum(a.fee_cents)::text
from rounds r cross join lateral (select * from attempts of_round where of_round.round_id = r.id offset 0) a
where r.closes_at >= $1 and r.closes_at < $2 group by r.environment, a.status
union all
select 'round_payouts', r.environment, p.status, count(*), sum(p.amount_cents)::text
from rounds r cross join lateral (select * from round_payouts of_round where of_round.round_id = r.id offset 0) p
where r.closes_at >= $1 and r.closes_at < $2 group by r.environment, p.status`,
};

// An event derives its id from its attempt, round or award, whose ids are all made before the round
// ends. The outbox keeps it until the webhook service acknowledges it.
const UNFINISHED: Statement = {
  text: `
(select 'it is being deleted' as clause from archived_months m where m.begins_at = $1)
union all
(select 'the round ' || r.id || ' is ' || r.status from rounds r
 where r.closes_at >= $1 and r.closes_at < $2 and r.status not in ('settled', 'cancelled') order by r.id limit 5)
union all
(select 'the attempt ' || a.id || ' is ' || a.status from rounds r cross join lateral (select * from attempts of_round where of_round.round_id = r.id offset 0) a
 where r.closes_at >= $1 and r.closes_at < $2 and a.status not in ('settled', 'expired', 'voided', 'refused')
 order by a.id limit 5)
union all
(select 'the fee of ' || d.attempt_id || ' is due back'
 from refunds_due d join attempts a on a.id = d.attempt_id join rounds r on r.id = a.round_id
 where r.closes_at >= $1 and r.closes_at < $2 order by d.attempt_id limit 5)
union all
(select 'the payout ' || p.award_id || ' is ' || p.status from rounds r cross join lateral (select * from round_payouts of_round where of_round.round_id = r.id offset 0) p
 where r.closes_at >= $1 and r.closes_at < $2 and p.status not in ('paid', 'denied') order by p.award_id limit 5)
union all
(select 'the event ' || b.event_id || ' is not delivered to the webhook service' from outbox b
 where b.event_id < $3 order by b.event_id limit 5)`,
};

// The rounds of a deleted month stay, without their attempts.
const OLDEST: Statement = {
  text: `
select min(closes_at) as oldest from rounds
where closes_at >= coalesce((select max(ends_at) from archived_months where deleted_at is not null), '-infinity')`,
};

/** What the month's rounds, attempts and payouts add up to; of rounds the whole purses. */
export function loadArchivedTotals(on: Queryable, { from, until }: Range): Promise<readonly Total[]> {
  return loadTotals(on, TOTALS, [from, until]);
}

/** What of the month may still change, some of each kind, as clauses. */
export async function loadUnfinished(
  on: Queryable,
  { from, until, endId }: Range & { readonly endId: string },
): Promise<readonly string[]> {
  const rows = await on.query<{ clause: string }>(UNFINISHED, [from, until, endId]);
  return rows.map(({ clause }) => clause);
}

/** When the first of all rounds ends, those of deleted months aside; null without rounds. */
export async function oldestEnd(on: Queryable): Promise<Date | null> {
  return (await on.query<{ oldest: Date | null }>(OLDEST))[0]?.oldest ?? null;
}
