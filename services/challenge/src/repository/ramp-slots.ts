/**
 * The slots of challenges whose bar is unconfirmed (domain/ramp.ts). An attempt holds a slot from
 * its reservation until it ends without an outcome or the drift monitor has counted it. A
 * transaction that takes slots holds the lock on the slots of the challenge (player-facts.ts), so
 * two reservations never take the same free slot. The constraint ramp_slots_are_a_hundred enforces
 * the limit.
 *
 * A slot is in use while its attempt is pending, open or settled. The next attempts take slots that
 * are not in use, so the code that ends an attempt need not free its slot. The monitor frees slots
 * of settled attempts until only as many are left as outcomes wait. It does not matter which of
 * these rows the monitor deletes. A worker frees the slots that no attempt took and no monitor
 * freed (workers/free-slots.ts).
 */
import type { BoundStatement, Database, Queryable } from '@laurel/postgres';
import { MAX_UNCONFIRMED_ATTEMPTS, RAMP_ATTEMPTS } from '../domain/ramp.ts';

/** SQL: whether the bar of a row of challenges is unconfirmed. */
export function isUnconfirmedSql(challenge: string): string {
  return `(${challenge}.ramped_from is not null and ${challenge}.ramp_completed_at is null and ${challenge}.status = 'live'
    and (select m.attempts from drift_monitors m where m.challenge_id = ${challenge}.id) < ${RAMP_ATTEMPTS})`;
}

/** SQL: whether the attempt of a row of ramp_slots still needs the slot. */
const isInUse = (slot: string): string =>
  `(select a.status from attempts a where a.id = ${slot}.attempt_id) in ('pending', 'open', 'settled')`;

/** SQL: how many slots of a challenge are in use. The argument is an expression. */
export function slotsInUseSql(challengeId: string): string {
  return `(select count(*)::int from ramp_slots s where s.challenge_id = ${challengeId} and ${isInUse('s')})`;
}

// The n-th attempt that needs a slot of a challenge takes the n-th free slot. If no slot is free,
// the slot is null, which the table refuses.
const TAKE = {
  name: 'ramp_slots_take',
  text: `
insert into ramp_slots (challenge_id, slot, attempt_id)
select needed.challenge_id, free.slot, needed.id
from (
  select a.id, a.challenge_id, row_number() over (partition by a.challenge_id order by a.id) as nth
  from attempts a join challenges c on c.id = a.challenge_id
  where a.id = any($1::uuid[]) and a.status = 'pending' and ${isUnconfirmedSql('c')}
    and not exists (select from ramp_slots s where s.attempt_id = a.id)
) needed
left join lateral (
  select every.slot from generate_series(1, ${MAX_UNCONFIRMED_ATTEMPTS}) as every (slot)
  where not exists (
    select from ramp_slots s where s.challenge_id = needed.challenge_id and s.slot = every.slot and ${isInUse('s')})
  order by every.slot offset needed.nth - 1 limit 1
) free on true
order by needed.challenge_id, free.slot
on conflict (challenge_id, slot) do update set attempt_id = excluded.attempt_id`,
};

const FREE = {
  name: 'ramp_slots_free',
  text: `
with counted as (
  select settled.challenge_id, settled.slot
  from (
    select s.challenge_id, s.slot, row_number() over (partition by s.challenge_id order by s.slot) as nth
    from ramp_slots s join attempts a on a.id = s.attempt_id
    where s.challenge_id = any($1::uuid[]) and a.status = 'settled'
  ) settled
  left join (
    select w.challenge_id, count(*) as outcomes
    from unmonitored_outcomes u cross join unnest(u.challenge_ids) as w (challenge_id)
    where w.challenge_id = any($1::uuid[])
    group by w.challenge_id
  ) waiting on waiting.challenge_id = settled.challenge_id
  where settled.nth > coalesce(waiting.outcomes, 0)
), held as materialized (
  select w.challenge_id, w.slot
  from (select challenge_id, slot from counted order by challenge_id, slot) w
  cross join lateral (
    select from ramp_slots s where s.challenge_id = w.challenge_id and s.slot = w.slot for update
  ) s
)
delete from ramp_slots s using held where s.challenge_id = held.challenge_id and s.slot = held.slot`,
};

// An abandoned attempt may start again, as long as its idempotency key counts, and then needs the
// slot that it still has. The lock on the attempt makes such a start wait, and skips an attempt
// that has just started. A completed ramp stays completed, and its slots limit nothing.
const FREE_UNNEEDED = {
  name: 'ramp_slots_free_unneeded',
  text: `
with unneeded as materialized (
  select s.challenge_id, s.slot
  from ramp_slots s join attempts a on a.id = s.attempt_id
  where s.attempt_id < $1 and (a.status not in ('pending', 'open', 'settled') or (a.status = 'settled'
    and (select c.ramp_completed_at is not null from challenges c where c.id = s.challenge_id)))
  order by s.attempt_id limit $2
  for update of s skip locked for share of a skip locked
), gone as (
  delete from ramp_slots s using unneeded u where s.challenge_id = u.challenge_id and s.slot = u.slot returning s.slot
)
select count(*)::int as count from gone`,
};

/**
 * Returns the statement that gives a slot to each of these attempts whose challenge has an
 * unconfirmed bar. It runs after the statement that inserts the attempts.
 */
export function takingSlots(attemptIds: readonly string[]): BoundStatement {
  return { statement: TAKE, values: [attemptIds] };
}

/**
 * Frees the slots of settled attempts that the monitors have counted. The caller holds the locks on
 * the monitors of these challenges, and has removed the counted outcomes from the queue.
 */
export async function releaseSlots(on: Queryable, challengeIds: readonly string[]): Promise<void> {
  if (challengeIds.length > 0) await on.query(FREE, [challengeIds]);
}

/**
 * Frees at most `limit` slots of attempts with ids before `untilId` that have ended, unless the
 * monitor has yet to count their outcome. Returns how many it freed.
 */
export async function freeUnneededSlots(database: Database, untilId: string, limit: number): Promise<number> {
  const [row] = await database.query<{ count: number }>(FREE_UNNEEDED, [untilId, limit]);
  return row?.count ?? 0;
}
