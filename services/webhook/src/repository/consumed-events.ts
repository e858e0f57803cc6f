/** The events that were consumed from the stream, and the endpoints that match them. */

import type { Database } from '@laurel/postgres';
import type { Tenant } from '@laurel/tenant';
import type { NewDelivery } from '../domain/delivery.ts';

/** The properties of an event that endpoints are matched by. */
export type EventScope = {
  readonly id: string;
  readonly type: string;
  readonly occurredAt: Date;
  readonly tenant: Tenant;
};

/** An event and an endpoint that receives it. */
export type Match = { readonly eventId: string; readonly endpointId: string };

/** A delivery of an event, due as soon as it is inserted. */
export type EventDelivery = Pick<NewDelivery, 'id' | 'endpointId' | 'eventId' | 'eventType' | 'body'> & {
  readonly tenant: Tenant;
};

// Ids are inserted in one order, so that two batches with the same events wait for each other instead of deadlocking.
//
// An event goes to every endpoint of its program's developer that is on, existed when the event happened, and matches its program,
// environment and type. The offsets hold the planner to this order: from an event to its program, then to that developer's few endpoints.
const INSERT_UNMATCHED = {
  name: 'consumed_events_insert_unmatched',
  text: `
with batch as materialized (
  select * from unnest($1::uuid[], $2::text[], $3::timestamptz[], $4::uuid[], $5::text[])
    as b (id, type, occurred_at, program_id, environment)
),
matched as materialized (
  select b.id, e.id as endpoint_id
  from batch b
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
),
inserted as (
  insert into consumed_events (id, consumed_at)
  select b.id, $6 from batch b where not exists (select from matched) order by b.id
  on conflict (id) do nothing
)
select id, endpoint_id from matched`,
};

const INSERT_WITH_DELIVERIES = {
  name: 'consumed_events_insert_with_deliveries',
  text: `
with inserted as (
  insert into consumed_events (id, consumed_at) select id, $2 from unnest($1::uuid[]) as b (id) order by id
  on conflict (id) do nothing
  returning id
)
insert into deliveries (id, endpoint_id, event_id, event_type, program_id, environment, body, status, next_attempt_at, created_at)
select n.id, n.endpoint_id, n.event_id, n.event_type, n.program_id, n.environment, n.body, 'pending', $2, $2
from unnest($3::uuid[], $4::uuid[], $5::uuid[], $6::text[], $7::uuid[], $8::text[], $9::bytea[])
  as n (id, endpoint_id, event_id, event_type, program_id, environment, body)
where n.event_id = any (array(select i.id from inserted i))
order by n.endpoint_id, n.event_id
on conflict (endpoint_id, event_id) where resend_of is null do nothing
returning endpoint_id`,
};

/**
 * Returns the endpoints that the events match, and stores the events where none of them matches any: most programs have no endpoint, and
 * then one round trip suffices. The events must be distinct.
 */
export async function insertUnmatchedEvents(
  database: Database,
  events: readonly EventScope[],
  consumedAt: Date,
): Promise<readonly Match[]> {
  const rows = await database.write<{ id: string; endpoint_id: string }>(
    INSERT_UNMATCHED,
    [
      events.map(({ id }) => id),
      events.map(({ type }) => type),
      events.map(({ occurredAt }) => occurredAt),
      events.map(({ tenant }) => tenant.programId),
      events.map(({ tenant }) => tenant.environment),
      consumedAt,
    ],
    { durable: true },
  );
  return rows.map((row) => ({ eventId: row.id, endpointId: row.endpoint_id }));
}

/**
 * Stores the events that are not stored yet, with their deliveries, and returns the endpoint of each new delivery. An event that the stream
 * delivers again after its row here was deleted makes no second delivery either.
 */
export async function insertEventsWithDeliveries(
  database: Database,
  eventIds: readonly string[],
  deliveries: readonly EventDelivery[],
  takenAt: Date,
): Promise<readonly string[]> {
  const rows = await database.write<{ endpoint_id: string }>(
    INSERT_WITH_DELIVERIES,
    [
      eventIds,
      takenAt,
      deliveries.map(({ id }) => id),
      deliveries.map(({ endpointId }) => endpointId),
      deliveries.map(({ eventId }) => eventId),
      deliveries.map(({ eventType }) => eventType),
      deliveries.map(({ tenant }) => tenant.programId),
      deliveries.map(({ tenant }) => tenant.environment),
      deliveries.map(({ body }) => body),
    ],
    { durable: true },
  );
  return rows.map(({ endpoint_id }) => endpoint_id);
}
