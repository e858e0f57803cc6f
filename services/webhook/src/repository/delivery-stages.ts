/** The deliveries that wait, as statements of the stage sampler (libs/postgres). */
import { type BoundStatement, EACH_ENVIRONMENT, MAX_COUNTED, MAX_WALKED } from '@laurel/postgres';
import { eachEndpointWithPending, environmentOf, isFree } from './sends.ts';

/** In one environment; the rest of a long queue says nothing more. */
const MAX_COUNTED_OF_ENDPOINT = 100;

const WAITING = {
  name: 'stage_delivery_waiting',
  text: `
select of_stage.stage, known.environment, least(count(pending.attempts), ${MAX_COUNTED})::int as items,
  extract(epoch from $1::timestamptz - min(pending.created_at))::float8 as oldest_seconds
from ${EACH_ENVIRONMENT}
cross join (values ('delivery_first', false), ('delivery_retry', true)) of_stage (stage, was_sent)
left join (
  select d.attempts, d.created_at, ${environmentOf('d')} as environment
  from deliveries d where d.status = 'pending' limit ${MAX_WALKED}
) pending on (pending.attempts > 0) = of_stage.was_sent and pending.environment = known.environment
group by of_stage.stage, known.environment`,
};

// By queue, as the sweep does, so that a long one is not read.
const DUE = {
  name: 'stage_delivery_due',
  text: `
with recursive ${eachEndpointWithPending('waiting')}
select 'delivery_due' as stage, known.environment, count(late.next_attempt_at)::int as items,
  extract(epoch from $1::timestamptz - min(late.next_attempt_at))::float8 as oldest_seconds
from ${EACH_ENVIRONMENT}
left join (
  select due.next_attempt_at, queue.environment
  from waiting w
  cross join (values ('live'), ('test')) as queue (environment)
  cross join lateral (
    select d.next_attempt_at from deliveries d
    where d.endpoint_id = w.endpoint_id and ${environmentOf('d')} = queue.environment
      and d.status = 'pending' and d.next_attempt_at <= $1 and ${isFree('d')}
    order by d.next_attempt_at limit ${MAX_COUNTED_OF_ENDPOINT}
  ) due
) late on late.environment = known.environment
group by known.environment`,
};

/**
 * `delivery_first` and `delivery_retry`: pending, before their first send and after one; since they were made. `delivery_due`: due, and no
 * process is sending it; counted up to 100 of each endpoint in each environment, since it was due.
 * The environment is the delivery's own: an endpoint may take both.
 */
export const DELIVERY_STAGES: readonly BoundStatement[] = [{ statement: WAITING }, { statement: DUE }];
