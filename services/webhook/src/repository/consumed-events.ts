/**
 * The events consumed from the stream, the endpoints that match them, and the log of each sandbox.
 */

import type { Database } from '@laurel/postgres';
import type { Environment, Tenant } from '@laurel/values/tenant';
import type { NewDelivery } from '../domain/delivery.ts';
import type { DeliveryQueue } from '../domain/delivery-queues.ts';

/** The properties by which an event is matched with endpoints. */
export type EventScope = {
  readonly id: string;
  readonly type: string;
  readonly occurredAt: Date;
  readonly tenant: Tenant;
};

/** A sandbox event, with the body of its deliveries. */
export type SandboxEvent = Pick<NewDelivery, 'eventId' | 'eventType' | 'body'> & { readonly programId: string };

/** An event and an endpoint that receives it. */
export type EndpointMatch = { readonly eventId: string; readonly endpointId: string };

/** A delivery of an event, due as soon as it is inserted. */
export type EventDelivery = Pick<NewDelivery, 'id' | 'endpointId' | 'eventId' | 'eventType' | 'body'> & {
  readonly tenant: Tenant;
};

// The last steps of a statement that has `inserted`, the events that it inserted. They append the
// sandbox events among these to their program's log, at the next positions. The program's row stays
// locked until the commit, so a reader that sees a position sees all before it, and a rollback
// leaves no gap. A batch of live events stores nothing here and locks nothing.
const sandboxSteps = (first: number) => `
fresh as materialized (
  select s.*, row_number() over (partition by s.program_id order by s.nth) as number, count(*) over (partition by s.program_id) as numbers
  from unnest($${first}::uuid[], $${first + 1}::uuid[], $${first + 2}::text[], $${first + 3}::bytea[]) with ordinality
    as s (event_id, program_id, event_type, body, nth)
  where s.event_id = any (array(select i.id from inserted i))
),
counted as (
  insert into sandbox_logs as l (program_id, last_position)
  select f.program_id, f.numbers from fresh f where f.number = 1 order by f.program_id
  on conflict (program_id) do update set last_position = l.last_position + excluded.last_position
  returning l.program_id, l.last_position
),
logged as (
  insert into sandbox_events (program_id, position, event_id, event_type, body, created_at)
  select f.program_id, c.last_position - f.numbers + f.number, f.event_id, f.event_type, f.body, $${first + 4}
  from fresh f join counted c on c.program_id = f.program_id
  order by f.program_id, f.number
)`;

// Ids are inserted in one order, so that two batches with the same events wait for each other
// instead of deadlocking.
//
// An event goes to every endpoint of its program's developer that is on, existed when the event
// happened, and matches its program, environment and type. Each `offset 0` keeps the planner to
// this order: from an event to its program, then to the few endpoints of that developer.
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
  returning id
),${sandboxSteps(7)}
select id, endpoint_id from matched`,
};

const INSERT_WITH_DELIVERIES = {
  name: 'consumed_events_insert_with_deliveries',
  text: `
with inserted as (
  insert into consumed_events (id, consumed_at) select id, $2 from unnest($1::uuid[]) as b (id) order by id
  on conflict (id) do nothing
  returning id
),${sandboxSteps(10)}
insert into deliveries (id, endpoint_id, event_id, event_type, program_id, environment, body, status, next_attempt_at, created_at)
select n.id, n.endpoint_id, n.event_id, n.event_type, n.program_id, n.environment, n.body, 'pending', $2, $2
from unnest($3::uuid[], $4::uuid[], $5::uuid[], $6::text[], $7::uuid[], $8::text[], $9::bytea[])
  as n (id, endpoint_id, event_id, event_type, program_id, environment, body)
where n.event_id = any (array(select i.id from inserted i))
order by n.endpoint_id, n.event_id
on conflict (endpoint_id, event_id) where resend_of is null do nothing
returning endpoint_id, environment`,
};

/**
 * Returns the endpoints that the events match. If there are none, it also stores the events: most
 * programs have no endpoint, and then one round trip is enough. The events must be distinct.
 */
export async function insertUnmatchedEvents(
  database: Pick<Database, 'write'>,
  events: readonly EventScope[],
  sandbox: readonly SandboxEvent[],
  consumedAt: Date,
): Promise<readonly EndpointMatch[]> {
  const rows = await database.write<{ id: string; endpoint_id: string }>(
    INSERT_UNMATCHED,
    [
      events.map(({ id }) => id),
      events.map(({ type }) => type),
      events.map(({ occurredAt }) => occurredAt),
      events.map(({ tenant }) => tenant.programId),
      events.map(({ tenant }) => tenant.environment),
      consumedAt,
      ...sandboxValues(sandbox, consumedAt),
    ],
    { durable: true },
  );
  return rows.map((row) => ({ eventId: row.id, endpointId: row.endpoint_id }));
}

/**
 * Stores the events that are not stored yet, with their deliveries, and returns the queue of each
 * new delivery. The stream may redeliver an event whose row here was deleted: such an event gets no
 * second delivery either.
 */
export async function insertEventsWithDeliveries(
  database: Pick<Database, 'write'>,
  eventIds: readonly string[],
  deliveries: readonly EventDelivery[],
  sandbox: readonly SandboxEvent[],
  consumedAt: Date,
): Promise<readonly DeliveryQueue[]> {
  const rows = await database.write<{ endpoint_id: string; environment: Environment }>(
    INSERT_WITH_DELIVERIES,
    [
      eventIds,
      consumedAt,
      deliveries.map(({ id }) => id),
      deliveries.map(({ endpointId }) => endpointId),
      deliveries.map(({ eventId }) => eventId),
      deliveries.map(({ eventType }) => eventType),
      deliveries.map(({ tenant }) => tenant.programId),
      deliveries.map(({ tenant }) => tenant.environment),
      deliveries.map(({ body }) => body),
      ...sandboxValues(sandbox, consumedAt),
    ],
    { durable: true },
  );
  return rows.map((row) => ({ endpointId: row.endpoint_id, environment: row.environment }));
}

/** The parameters of `sandboxSteps`. */
function sandboxValues(sandbox: readonly SandboxEvent[], createdAt: Date): readonly unknown[] {
  return [
    sandbox.map(({ eventId }) => eventId),
    sandbox.map(({ programId }) => programId),
    sandbox.map(({ eventType }) => eventType),
    sandbox.map(({ body }) => body),
    createdAt,
  ];
}
