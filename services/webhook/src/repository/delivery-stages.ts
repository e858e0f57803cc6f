/** The deliveries that wait, as statements of the stage sampler (libs/postgres). */
import { type BoundStatement, MAX_COUNTED } from '@laurel/postgres';
import { eachEndpointWithPending, isFree } from './sends.ts';

/** Of one endpoint; the rest of a long queue says nothing more. */
const MAX_COUNTED_OF_ENDPOINT = 100;

const WAITING = {
  name: 'stage_delivery_waiting',
  text: `
select known.stage, count(pending.attempts)::int as items,
  extract(epoch from $1::timestamptz - min(pending.created_at))::float8 as oldest_seconds
from (values ('delivery_first', false), ('delivery_retry', true)) known (stage, was_sent)
left join (select attempts, created_at from deliveries where status = 'pending' limit ${MAX_COUNTED}) pending
  on (pending.attempts > 0) = known.was_sent
group by known.stage`,
};

// By endpoint, as the sweep does, so that a long queue of one endpoint is not read.
const DUE = {
  name: 'stage_delivery_due',
  text: `
with recursive ${eachEndpointWithPending('waiting')}
select 'delivery_due' as stage, count(*)::int as items, extract(epoch from $1::timestamptz - min(due.next_attempt_at))::float8 as oldest_seconds
from waiting w
cross join lateral (
  select d.next_attempt_at from deliveries d
  where d.endpoint_id = w.endpoint_id and d.status = 'pending' and d.next_attempt_at <= $1 and ${isFree('d')}
  order by d.next_attempt_at limit ${MAX_COUNTED_OF_ENDPOINT}
) due
where w.endpoint_id is not null`,
};

/**
 * `delivery_first` and `delivery_retry`: pending, before their first send and after one; since they were made. `delivery_due`: due, and no
 * process is sending it; counted up to 100 of each endpoint, since it was due.
 */
export const DELIVERY_STAGES: readonly BoundStatement[] = [{ statement: WAITING }, { statement: DUE }];
