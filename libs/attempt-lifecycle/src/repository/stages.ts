/** The stages of attempts, refunds and awards that none of them may stay in, as statements of the stage sampler (libs/postgres). */
import { type BoundStatement, MAX_COUNTED } from '@laurel/postgres';
import type { Sweep } from './sweeps.ts';

/** A sweep that is held up must not make its measurement read everything since its mark. */
const MAX_WALKED = 100_000;

export interface AttemptStages {
  /** The owner's table of awards: with status, created_at, and a partial index on created_at over the unfinished ones. */
  readonly awards: 'awards' | 'round_payouts';
  /** How old a pending attempt has to be until the sweeper resolves it. */
  readonly pendingGraceMs: number;
  /** How old an attempt becomes without an outcome. */
  readonly attemptTtlMs: number;
}

/**
 * SQL: attempts above the mark of a sweep that are older than `$2` milliseconds, which the sweep should have passed; their age is less by
 * `$3` milliseconds. Where the sweep keeps up, hardly any attempt is read.
 */
function leftBehind(stage: string, sweep: Sweep, statuses: readonly string[]): string {
  return `
select '${stage}' as stage, count(*)::int as items,
  extract(epoch from $1::timestamptz - $3::int * interval '1 ms' - min(created_at))::float8 as oldest_seconds
from (
  select created_at from (
    select created_at, status from attempts
    where created_at >= coalesce((select swept_until from sweep_marks where sweep = '${sweep}'), '-infinity')
      and created_at <= $1::timestamptz - $2::int * interval '1 ms'
    order by created_at limit ${MAX_WALKED}
  ) walked
  where status in (${statuses.map((status) => `'${status}'`).join(', ')})
  order by created_at limit ${MAX_COUNTED}
) left_behind`;
}

/** SQL: the unfinished awards of a table, by status. */
function unfinished(awards: AttemptStages['awards']): string {
  // Only an award of a challenge is ever `holding`: it waits for the wallet as one that is `paying` does.
  const holding = `
  union all (
    select 'paying', created_at from ${awards} where status = 'holding' order by created_at limit ${MAX_COUNTED}
  )`;
  return `
select 'award_' || known.status as stage, count(owed.status)::int as items,
  case known.status when 'paying' then extract(epoch from $1::timestamptz - min(owed.created_at)) end::float8 as oldest_seconds
from (values ('paying'), ('releasing'), ('denying')) known (status)
left join (
  (
    select status, created_at from ${awards}
    where status in ('paying', 'releasing', 'denying') order by created_at limit ${MAX_COUNTED}
  )${awards === 'awards' ? holding : ''}
) owed on owed.status = known.status
group by known.status`;
}

const PENDING = {
  name: 'stage_attempt_pending',
  text: leftBehind('attempt_pending', 'resolve_pending', ['pending']),
};

const OVERDUE = {
  name: 'stage_attempt_overdue',
  text: leftBehind('attempt_overdue', 'expire_attempts', ['pending', 'open']),
};

// Without an order, so that no more rows are read than are counted; beyond that limit the age is that of those.
const REFUNDS = {
  name: 'stage_refund_due',
  text: `
select 'refund_due' as stage, count(*)::int as items, extract(epoch from $1::timestamptz - min(since))::float8 as oldest_seconds
from (select since from refunds_due limit ${MAX_COUNTED}) due`,
};

const AWARDS = { name: 'stage_awards', text: unfinished('awards') };

const ROUND_PAYOUTS = { name: 'stage_round_payouts', text: unfinished('round_payouts') };

/**
 * - `attempt_pending`: past their grace, and the fee is still not decided; since their creation
 * - `attempt_overdue`: past their deadline, and still open; since that deadline
 * - `refund_due`: a fee that is to be returned; since the attempt ended
 * - `award_paying`: won, and not yet paid or held by the wallet; since it was won
 * - `award_releasing`, `award_denying`: an operator's decision that the wallet has not answered; without an age, since no instant is kept
 */
export function attemptStages({ awards, pendingGraceMs, attemptTtlMs }: AttemptStages): readonly BoundStatement[] {
  return [
    { statement: PENDING, values: [pendingGraceMs, 0] },
    { statement: OVERDUE, values: [attemptTtlMs, attemptTtlMs] },
    { statement: REFUNDS },
    { statement: awards === 'awards' ? AWARDS : ROUND_PAYOUTS },
  ];
}
