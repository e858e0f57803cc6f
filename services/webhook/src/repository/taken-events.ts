/** What the stream brought, and which endpoints want it. */
import type { Transaction } from '@laurel/postgres';
import type { Tenant } from '../domain/endpoint.ts';

/** What decides who gets an event. */
export type EventScope = {
  readonly id: string;
  readonly type: string;
  readonly occurredAt: Date;
  readonly tenant: Tenant;
};

/** An endpoint that an event goes to. */
export type Match = { readonly eventId: string; readonly endpointId: string };

// The ids in one order, so that two batches that bring the same events wait for each other instead of deadlocking. An event goes to every
// endpoint of its program's developer that is on and existed when it happened, and whose program, environment and types it meets.
// The offsets keep the planner to this order: from an event to its program, and on to the few endpoints of that developer.
const TAKE = {
  name: 'taken_events_take',
  text: `
with brought as materialized (
  select * from unnest($1::uuid[], $2::text[], $3::timestamptz[], $4::uuid[], $5::text[])
    as b (id, type, occurred_at, program_id, environment)
),
taken as (
  insert into taken_events (id, taken_at) select b.id, $6 from brought b order by b.id
  on conflict (id) do nothing
  returning id
)
select b.id, e.id as endpoint_id
from brought b
cross join lateral (select developer_id from programs where id = b.program_id offset 0) p
cross join lateral (
  select e.id from endpoints e
  where e.developer_id = p.developer_id
    and e.deleted_at is null
    and e.is_active
    and e.created_at <= b.occurred_at
    and (e.program_id is null or e.program_id = b.program_id)
    and (e.environment is null or e.environment = b.environment)
    and (e.events = '{}' or b.type = any(e.events))
  offset 0
) e
where b.id = any (array(select t.id from taken t))`,
};

/** Takes the events that were not taken before, and says where each of them goes. No event may be there twice. */
export async function takeEvents(
  tx: Transaction,
  events: readonly EventScope[],
  takenAt: Date,
): Promise<readonly Match[]> {
  const rows = await tx.query<{ id: string; endpoint_id: string }>(TAKE, [
    events.map(({ id }) => id),
    events.map(({ type }) => type),
    events.map(({ occurredAt }) => occurredAt),
    events.map(({ tenant }) => tenant.programId),
    events.map(({ tenant }) => tenant.environment),
    takenAt,
  ]);
  return rows.map((row) => ({ eventId: row.id, endpointId: row.endpoint_id }));
}
