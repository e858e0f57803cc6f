/** What the sweepers walk: attempts in the order of their creation, from a mark below which everything is done with; and refunds due. */
import { type AttemptStatus, afterRefund } from '@laurel/attempt';
import type { Queryable } from './queryable.ts';

export type Sweep = 'resolve_pending' | 'expire_attempts';

export type PendingAttempt = { readonly id: string; readonly feeGeneration: number; readonly createdAt: Date };

export type RefundDue = { readonly id: string; readonly feeGeneration: number; readonly reason: 'expired' | 'voided' };

const LOAD_MARK = { text: 'select swept_until from sweep_marks where sweep = $1' };

// A mark never goes back, whichever of several replicas was slower.
const PUT_MARK = {
  text: `
insert into sweep_marks (sweep, swept_until) values ($1, $2)
on conflict (sweep) do update set swept_until = excluded.swept_until
where sweep_marks.swept_until < excluded.swept_until`,
};

const SELECT_PENDING = {
  text: `
select id, fee_generation, created_at from attempts
where created_at >= $1 and created_at <= $2 and status = 'pending'
order by created_at limit $3`,
};

// One statement and one commit: the attempts end, and their refunds are due. Rows that an outcome holds right now are skipped, not
// waited for: the outcome has won that race.
const EXPIRE_DUE = {
  text: `
with due as (
  select id from attempts
  where created_at >= $1 and created_at <= $2 and status = 'open'
  order by created_at limit $3
  for no key update skip locked
), ended as (
  update attempts a set status = case when a.fee_cents > 0 then 'expiring' else 'expired' end
  from due where a.id = due.id returning a.id, a.fee_cents
), queued as (
  insert into refunds_due (attempt_id, since) select id, $4 from ended where fee_cents > 0
)
select count(*)::int as expired from ended`,
};

const OLDEST_LEFT_BEHIND = {
  text: `
select created_at from attempts
where created_at >= $1 and created_at <= $2 and status in ('pending', 'open')
order by created_at limit 1`,
};

const INSERT_REFUND_DUE = { text: 'insert into refunds_due (attempt_id, since) values ($1, $2)' };

const SELECT_REFUNDS_DUE = {
  text: `
select a.id, a.fee_generation, a.status from refunds_due r join attempts a on a.id = r.attempt_id
order by r.since, r.attempt_id limit $1`,
};

// All rows are locked first and in order; whoever comes second finds the queue's rows gone and changes nothing.
const FINISH_REFUNDS = {
  name: 'refunds_finish',
  text: `
with locked as (
  select r.attempt_id from refunds_due r join attempts a on a.id = r.attempt_id
  where r.attempt_id = any($1::uuid[]) order by r.attempt_id for update of r for no key update of a
), done as (
  delete from refunds_due r using locked l where r.attempt_id = l.attempt_id returning r.attempt_id
)
update attempts a set status = case a.status when 'expiring' then 'expired' else 'voided' end
from done where a.id = done.attempt_id and a.status in ('expiring', 'voiding')`,
};

/** The beginning of time where a sweep has never run. */
export async function loadMark(on: Queryable, sweep: Sweep): Promise<Date> {
  const [row] = await on.query<{ swept_until: Date }>(LOAD_MARK, [sweep]);
  return row?.swept_until ?? new Date(0);
}

export async function putMark(on: Queryable, sweep: Sweep, sweptUntil: Date): Promise<void> {
  await on.query(PUT_MARK, [sweep, sweptUntil]);
}

/** Pending attempts created from the first instant to the second, both included, oldest first. */
export async function loadPending(
  on: Queryable,
  from: Date,
  until: Date,
  limit: number,
): Promise<readonly PendingAttempt[]> {
  const rows = await on.query<{ id: string; fee_generation: number; created_at: Date }>(SELECT_PENDING, [
    from,
    until,
    limit,
  ]);
  return rows.map((row) => ({ id: row.id, feeGeneration: row.fee_generation, createdAt: row.created_at }));
}

/** Ends open attempts created from the first instant to the second, both included, oldest first. */
export async function expireAttemptsBetween(
  on: Queryable,
  from: Date,
  until: Date,
  limit: number,
  now: Date,
): Promise<number> {
  const [row] = await on.query<{ expired: number }>(EXPIRE_DUE, [from, until, limit, now]);
  return row?.expired ?? 0;
}

/** The oldest attempt of the window that is neither ended nor refused; null when there is none. */
export async function oldestUnended(on: Queryable, from: Date, until: Date): Promise<Date | null> {
  const [row] = await on.query<{ created_at: Date }>(OLDEST_LEFT_BEHIND, [from, until]);
  return row?.created_at ?? null;
}

export async function insertRefundDue(on: Queryable, attemptId: string, since: Date): Promise<void> {
  await on.query(INSERT_REFUND_DUE, [attemptId, since]);
}

export async function loadRefundsDue(on: Queryable, limit: number): Promise<readonly RefundDue[]> {
  const rows = await on.query<{ id: string; fee_generation: number; status: AttemptStatus }>(SELECT_REFUNDS_DUE, [
    limit,
  ]);
  return rows.map((row) => ({
    id: row.id,
    feeGeneration: row.fee_generation,
    reason: afterRefund(row.status) ?? 'expired',
  }));
}

/** `expiring -> expired`, `voiding -> voided`: the refunds are posted. */
export async function finishRefunds(on: Queryable, attemptIds: readonly string[]): Promise<void> {
  await on.query(FINISH_REFUNDS, [attemptIds]);
}
