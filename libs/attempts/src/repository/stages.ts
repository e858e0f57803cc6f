/**
 * Counts attempts, refunds and awards that stay too long in a stage, as statements for the stage
 * sampler (libs/postgres).
 */
import { type BoundStatement, EACH_ENVIRONMENT, MAX_COUNTED_ITEMS, MAX_WALKED_ROWS } from '@laurel/postgres';
import type { Sweep } from './sweeps.ts';

export interface AttemptStages {
  /**
   * The contest service's table of awards. The table has the columns status and created_at, and a
   * partial index on created_at over the unfinished awards.
   */
  readonly awards: 'awards' | 'round_payouts';
  /** The age from which the sweeper resolves a pending attempt. */
  readonly pendingGraceMs: number;
  /** How long an attempt waits for its outcome. */
  readonly attemptTtlMs: number;
}

/**
 * The table of contests, whose rows state the environment, and the column of attempts that names a
 * contest.
 */
type Contests = { readonly table: 'challenges' | 'rounds'; readonly id: 'challenge_id' | 'round_id' };

/**
 * SQL: attempts above the mark of a sweep that are older than `$2` milliseconds, so that the sweep
 * should have passed them. `$3` milliseconds are subtracted from their age. If the sweep keeps up,
 * the statement reads hardly any attempt.
 */
function leftBehind(stage: string, sweep: Sweep, statuses: readonly string[], { table, id }: Contests): string {
  return `
select '${stage}' as stage, known.environment, least(count(left_behind.created_at), ${MAX_COUNTED_ITEMS})::int as items,
  extract(epoch from $1::timestamptz - $3::int * interval '1 ms' - min(left_behind.created_at))::float8 as oldest_seconds
from ${EACH_ENVIRONMENT}
left join (
  select walked.created_at, contest.environment
  from (
    select created_at, status, ${id} from attempts
    where created_at >= coalesce((select swept_until from sweep_marks where sweep = '${sweep}'), '-infinity')
      and created_at <= $1::timestamptz - $2::int * interval '1 ms'
    order by created_at limit ${MAX_WALKED_ROWS}
  ) walked
  join ${table} contest on contest.id = walked.${id}
  where walked.status in (${statuses.map((status) => `'${status}'`).join(', ')})
) left_behind on left_behind.environment = known.environment
group by known.environment`;
}

/** SQL: the unfinished awards of a table, by status. */
function unfinished(awards: AttemptStages['awards'], { table, id }: Contests): string {
  // Only an award of a challenge can be `holding`. Like a `paying` award, it waits for the wallet,
  // so both count as one stage.
  const holding = `
    union all
    (select 'paying', created_at, ${id} from ${awards} where status = 'holding' order by created_at limit ${MAX_WALKED_ROWS})`;
  return `
select 'award_' || of_status.status as stage, known.environment, least(count(owed.status), ${MAX_COUNTED_ITEMS})::int as items,
  case of_status.status when 'paying' then extract(epoch from $1::timestamptz - min(owed.created_at)) end::float8 as oldest_seconds
from ${EACH_ENVIRONMENT}
cross join (values ('paying'), ('releasing'), ('denying')) of_status (status)
left join (
  select walked.status, walked.created_at, contest.environment
  from (
    (
      select status, created_at, ${id} from ${awards}
      where status in ('paying', 'releasing', 'denying') order by created_at limit ${MAX_WALKED_ROWS}
    )${awards === 'awards' ? holding : ''}
  ) walked
  join ${table} contest on contest.id = walked.${id}
) owed on owed.status = of_status.status and owed.environment = known.environment
group by of_status.status, known.environment`;
}

/**
 * Does not order the rows, so that it reads at most the limit. If more refunds are due, the age is
 * the age of the oldest row that was read.
 */
function refundsDue({ table, id }: Contests): string {
  return `
select 'refund_due' as stage, known.environment, least(count(due.since), ${MAX_COUNTED_ITEMS})::int as items,
  extract(epoch from $1::timestamptz - min(due.since))::float8 as oldest_seconds
from ${EACH_ENVIRONMENT}
left join (
  select walked.since, contest.environment
  from (select attempt_id, since from refunds_due limit ${MAX_WALKED_ROWS}) walked
  join attempts a on a.id = walked.attempt_id
  join ${table} contest on contest.id = a.${id}
) due on due.environment = known.environment
group by known.environment`;
}

const CHALLENGES: Contests = { table: 'challenges', id: 'challenge_id' };
const ROUNDS: Contests = { table: 'rounds', id: 'round_id' };

const CHALLENGE_PENDING = {
  name: 'stage_attempt_pending',
  text: leftBehind('attempt_pending', 'resolve_pending', ['pending'], CHALLENGES),
};
const ROUND_PENDING = {
  name: 'stage_attempt_pending',
  text: leftBehind('attempt_pending', 'resolve_pending', ['pending'], ROUNDS),
};
const CHALLENGE_OVERDUE = {
  name: 'stage_attempt_overdue',
  text: leftBehind('attempt_overdue', 'expire_attempts', ['pending', 'open'], CHALLENGES),
};
const ROUND_OVERDUE = {
  name: 'stage_attempt_overdue',
  text: leftBehind('attempt_overdue', 'expire_attempts', ['pending', 'open'], ROUNDS),
};
const CHALLENGE_REFUNDS = { name: 'stage_refund_due', text: refundsDue(CHALLENGES) };
const ROUND_REFUNDS = { name: 'stage_refund_due', text: refundsDue(ROUNDS) };
const AWARDS = { name: 'stage_awards', text: unfinished('awards', CHALLENGES) };
const ROUND_PAYOUTS = { name: 'stage_round_payouts', text: unfinished('round_payouts', ROUNDS) };

/** The statements of the service, chosen by its table of awards. */
const STATEMENTS = {
  awards: { pending: CHALLENGE_PENDING, overdue: CHALLENGE_OVERDUE, refunds: CHALLENGE_REFUNDS, unfinished: AWARDS },
  round_payouts: { pending: ROUND_PENDING, overdue: ROUND_OVERDUE, refunds: ROUND_REFUNDS, unfinished: ROUND_PAYOUTS },
};

/**
 * - `attempt_pending`: the grace has passed and the fee is not decided. Age: since creation.
 * - `attempt_overdue`: the deadline has passed and the attempt is open. Age: since the deadline.
 * - `refund_due`: a fee is to be refunded. Age: since the attempt ended.
 * - `award_paying`: an award was won, and the wallet has neither paid nor held it. Age: since the
 *   win.
 * - `award_releasing`, `award_denying`: the wallet has not confirmed an operator's decision. No
 *   age, because the instant of the decision is not stored.
 */
export function attemptStages({ awards, pendingGraceMs, attemptTtlMs }: AttemptStages): readonly BoundStatement[] {
  const statements = STATEMENTS[awards];
  return [
    { statement: statements.pending, values: [pendingGraceMs, 0] },
    { statement: statements.overdue, values: [attemptTtlMs, attemptTtlMs] },
    { statement: statements.refunds },
    { statement: statements.unfinished },
  ];
}
