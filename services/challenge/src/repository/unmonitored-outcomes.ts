/**
 * The queue of settled paid attempts that the drift monitors have yet to count. The commit that settles attempts inserts its rows
 * (also outcomes.ts), and the transaction that counts them takes them away, holding the monitor: so each is counted once at most.
 */

import type { Database, Queryable } from '@laurel/postgres';

/** Outcomes of one challenge that settled together. */
type UnmonitoredOutcomes = { readonly challengeId: string; readonly passed: readonly boolean[] };

// The order within a challenge is that of the attempts in the batch; it does not depend on how they ended.
const INSERT_UNMONITORED = {
  name: 'unmonitored_outcomes_insert',
  text: `
insert into unmonitored_outcomes (challenge_id, passed)
select o.challenge_id, array_agg(o.passed order by o.position)
from unnest($1::uuid[], $2::bool[]) with ordinality as o (challenge_id, passed, position)
group by o.challenge_id order by o.challenge_id`,
};

// From challenge to challenge by the primary key: it costs by the challenges, however many rows each of them has.
const SELECT_PENDING = {
  name: 'unmonitored_outcomes_challenges',
  text: `
with recursive pending (challenge_id) as (
  (select u.challenge_id from unmonitored_outcomes u where u.challenge_id > $1 order by u.challenge_id limit 1)
  union all
  select next.challenge_id
  from pending p
  cross join lateral (
    select u.challenge_id from unmonitored_outcomes u where u.challenge_id > p.challenge_id order by u.challenge_id limit 1
  ) next
)
select challenge_id from pending limit $2`,
};

const TAKE = {
  name: 'unmonitored_outcomes_take',
  text: `
with taken as materialized (
  select u.challenge_id, u.id
  from (select * from unnest($1::uuid[]) as m (challenge_id) order by challenge_id) m
  cross join lateral (
    select u.challenge_id, u.id from unmonitored_outcomes u where u.challenge_id = m.challenge_id order by u.id limit $2
  ) u
  limit $2
), gone as (
  delete from unmonitored_outcomes u using taken t
  where u.challenge_id = t.challenge_id and u.id = t.id returning u.challenge_id, u.id, u.passed
)
select challenge_id, passed from gone order by challenge_id, id`,
};

const DROP = { text: 'delete from unmonitored_outcomes where challenge_id = $1' };

/** Before every challenge, in the order of ids. */
const BEFORE_ALL = '00000000-0000-0000-0000-000000000000';

/** In the commit that settles them. */
export async function insertUnmonitoredOutcomes(
  on: Queryable,
  outcomes: readonly { readonly challengeId: string; readonly passed: boolean }[],
): Promise<void> {
  if (outcomes.length === 0) return;
  await on.query(INSERT_UNMONITORED, [
    outcomes.map(({ challengeId }) => challengeId),
    outcomes.map(({ passed }) => passed),
  ]);
}

/** Challenges after this one, by id, that have outcomes to count; from the first one where it is null. */
export async function loadPendingChallenges(
  database: Database,
  after: string | null,
  limit: number,
): Promise<readonly string[]> {
  const rows = await database.query<{ challenge_id: string }>(SELECT_PENDING, [after ?? BEFORE_ALL, limit]);
  return rows.map((row) => row.challenge_id);
}

/**
 * Takes up to this many rows of the queue away, of the challenges in the order of their ids, those of one challenge in the order of
 * theirs. The caller holds the monitors.
 */
export async function takeUnmonitoredOutcomes(
  on: Queryable,
  challengeIds: readonly string[],
  limit: number,
): Promise<readonly UnmonitoredOutcomes[]> {
  const rows = await on.query<{ challenge_id: string; passed: boolean[] }>(TAKE, [challengeIds, limit]);
  return rows.map((row) => ({ challengeId: row.challenge_id, passed: row.passed }));
}

/** Takes all rows of the challenge away, uncounted. The caller holds the monitor. */
export async function dropUnmonitoredOutcomes(on: Queryable, challengeId: string): Promise<void> {
  await on.query(DROP, [challengeId]);
}
