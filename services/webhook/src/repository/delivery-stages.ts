/** Statements that count waiting deliveries for the stage sampler (libs/postgres). */
import { type BoundStatement, EACH_ENVIRONMENT, MAX_COUNTED_ITEMS, MAX_WALKED_ROWS } from '@laurel/postgres';
import { endpointsWithPendingSql, isNotLeasedSql, queueEnvironmentSql } from './sends.ts';

/**
 * The most deliveries of one endpoint that are counted per environment; the rest of a long queue
 * would add no information.
 */
const MAX_COUNTED_OF_ENDPOINT = 100;

const WAITING = {
  name: 'stage_delivery_waiting',
  text: `
select of_stage.stage, known.environment, least(count(pending.attempts), ${MAX_COUNTED_ITEMS})::int as items,
  extract(epoch from $1::timestamptz - min(pending.created_at))::float8 as oldest_seconds
from ${EACH_ENVIRONMENT}
cross join (values ('delivery_first', false), ('delivery_retry', true)) of_stage (stage, was_sent)
left join (
  select d.attempts, d.created_at, ${queueEnvironmentSql('d')} as environment
  from deliveries d where d.status = 'pending' limit ${MAX_WALKED_ROWS}
) pending on (pending.attempts > 0) = of_stage.was_sent and pending.environment = known.environment
group by of_stage.stage, known.environment`,
};

// This statement reads queue by queue, like the sweep, so it need not read all of a long queue.
const DUE = {
  name: 'stage_delivery_due',
  text: `
with recursive ${endpointsWithPendingSql('waiting')}
select 'delivery_due' as stage, known.environment, count(late.next_attempt_at)::int as items,
  extract(epoch from $1::timestamptz - min(late.next_attempt_at))::float8 as oldest_seconds
from ${EACH_ENVIRONMENT}
left join (
  select due.next_attempt_at, queue.environment
  from waiting w
  cross join (values ('live'), ('test')) as queue (environment)
  cross join lateral (
    select d.next_attempt_at from deliveries d
    where d.endpoint_id = w.endpoint_id and ${queueEnvironmentSql('d')} = queue.environment
      and d.status = 'pending' and d.next_attempt_at <= $1 and ${isNotLeasedSql('d')}
    order by d.next_attempt_at limit ${MAX_COUNTED_OF_ENDPOINT}
  ) due
) late on late.environment = known.environment
group by known.environment`,
};

/**
 * - `delivery_first`: pending, before the first send. Its age counts from the insert.
 * - `delivery_retry`: pending, after a send. Its age counts from the insert too.
 * - `delivery_due`: due, and not being sent. Its age counts from when it became due; at most 100
 *   are counted per endpoint and environment.
 *
 * The environment is the delivery's own, because an endpoint may receive both.
 */
export const DELIVERY_STAGES: readonly BoundStatement[] = [{ statement: WAITING }, { statement: DUE }];
