/**
 * Events that are not acknowledged yet, in their owner's database. The commit that makes a fact
 * true writes its event; the acknowledgement removes it. Each owner creates the table in its own
 * migration:
 *
 *   outbox(event_id uuid primary key, payload bytea, environment text, published_at timestamptz(3)
 *   default clock_timestamp()), indexed by environment and published_at
 */
import { type Database, EACH_ENVIRONMENT, type Queryable } from '@laurel/postgres';
import type { Environment } from '@laurel/values/tenant';

export interface OutboxRow {
  readonly id: string;
  /** The payload is a laurel.events.v1.Event. */
  readonly payload: Buffer;
  readonly environment: Environment;
}

const INSERT = {
  name: 'outbox_insert',
  text: `
insert into outbox (event_id, payload, environment)
select event_id, payload, environment
from unnest($1::uuid[], $2::bytea[], $3::text[]) as e (event_id, payload, environment) order by event_id
on conflict (event_id) do nothing`,
};

const DELETE = {
  name: 'outbox_delete',
  text: `
with held as materialized (
  select event_id from outbox where event_id = any($1::uuid[]) order by event_id for update
)
delete from outbox o using held where o.event_id = held.event_id and o.event_id = any($1::uuid[])
returning o.environment`,
};

// The relay that locks a row publishes it. A concurrent relay skips it, and a later one finds it
// just published.
const LEASE_DUE = {
  name: 'outbox_lease_due',
  text: `
with due as (
  select event_id from outbox
  where environment = $4
    and published_at < least(statement_timestamp(), coalesce($2::timestamptz, 'infinity')) - $1 * interval '1 millisecond'
  order by published_at limit $3
  for no key update skip locked
)
update outbox o set published_at = clock_timestamp()
from due where o.event_id = due.event_id
returning o.event_id as id, o.payload, o.environment`,
};

// The index has the oldest event of an environment first, however long the outbox is.
const MEASURE = {
  name: 'outbox_measure',
  text: `
select known.environment,
  (select count(*)::int
    from (select from outbox o where o.environment = known.environment limit $1) as counted) as events,
  (select coalesce(extract(epoch from clock_timestamp() - min(o.published_at)), 0)::float8
    from outbox o where o.environment = known.environment) as oldest_seconds
from ${EACH_ENVIRONMENT}`,
};

/** Calls `query` before it returns, as `commitWith` requires. */
export async function insertEvents(on: Queryable, rows: readonly OutboxRow[]): Promise<void> {
  await on.query(INSERT, [
    rows.map(({ id }) => id),
    rows.map(({ payload }) => payload),
    rows.map(({ environment }) => environment),
  ]);
}

/**
 * Returns the environment of each deleted event. Does not wait for the disk: a row that reappears
 * after a crash is published once more, and the consumer knows its id.
 */
export async function deleteEvents(database: Database, eventIds: readonly string[]): Promise<readonly Environment[]> {
  const rows = await database.write<{ environment: Environment }>(DELETE, [eventIds], { durable: false });
  return rows.map(({ environment }) => environment);
}

/**
 * Leases events of one environment to publish: those that were last published longer ago than the
 * margin. If the stream has an oldest message, they must also have been published more than the
 * margin before that message. Marks them published now.
 */
export async function leaseDue(
  database: Database,
  options: {
    readonly environment: Environment;
    readonly marginMs: number;
    readonly oldestAt: Date | null;
    readonly limit: number;
  },
): Promise<readonly OutboxRow[]> {
  const { environment, marginMs, oldestAt, limit } = options;
  return await database.write<OutboxRow>(LEASE_DUE, [marginMs, oldestAt, limit, environment], { durable: false });
}

/** The events of one environment that wait for their acknowledgement. */
export interface OutboxMeasure {
  readonly environment: Environment;
  /** How many events wait, counted up to the limit. */
  readonly events: number;
  /** Seconds since the least recent publication of a waiting event; 0 if there is none. */
  readonly oldestSeconds: number;
}

/** Returns one measure for each environment. */
export async function measureOutbox(database: Database, limit: number): Promise<readonly OutboxMeasure[]> {
  const rows = await database.query<{ environment: Environment; events: number; oldest_seconds: number }>(MEASURE, [
    limit,
  ]);
  return rows.map(({ environment, events, oldest_seconds: oldestSeconds }) => ({ environment, events, oldestSeconds }));
}
