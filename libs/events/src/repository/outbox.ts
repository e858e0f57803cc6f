/**
 * Events that nobody has taken yet, in the database of their owner: written in the very commit that makes the fact true, and removed
 * once taken. Each owner makes the table by a migration of its own:
 *
 *   outbox(event_id uuid primary key, payload bytea, published_at timestamptz(3) default clock_timestamp()), indexed by published_at
 */
import type { Database, Queryable } from '@laurel/postgres';

export interface OutboxRow {
  readonly id: string;
  /** A laurel.events.v1.Event. */
  readonly payload: Buffer;
}

const INSERT = {
  name: 'outbox_insert',
  text: `
insert into outbox (event_id, payload)
select event_id, payload from unnest($1::uuid[], $2::bytea[]) as e (event_id, payload)
on conflict (event_id) do nothing`,
};

const DELETE = {
  name: 'outbox_delete',
  text: 'delete from outbox where event_id = any($1::uuid[])',
};

// Whoever locks a row publishes it; a second relay passes it by, and finds it published a moment ago if it comes later.
const CLAIM_DUE = {
  name: 'outbox_claim_due',
  text: `
with due as (
  select event_id from outbox
  where published_at < least(statement_timestamp(), coalesce($2::timestamptz, 'infinity')) - $1 * interval '1 millisecond'
  order by published_at limit $3
  for no key update skip locked
)
update outbox o set published_at = clock_timestamp()
from due where o.event_id = due.event_id
returning o.event_id as id, o.payload`,
};

const COUNT = {
  name: 'outbox_count',
  text: 'select count(*)::int as waiting from (select from outbox limit $1) as counted',
};

/** Calls `query` before it returns, as `commitWith` asks. */
export async function insertEvents(on: Queryable, rows: readonly OutboxRow[]): Promise<void> {
  await on.query(INSERT, [rows.map(({ id }) => id), rows.map(({ payload }) => payload)]);
}

/** Not durable: a row that comes back is published once more, and taken as what was taken already. */
export async function deleteEvents(database: Database, eventIds: readonly string[]): Promise<void> {
  await database.write(DELETE, [eventIds], { durable: false });
}

/** Marks as published, now, what was published longer ago than the margin, and longer before the stream's oldest message if it has one. */
export async function claimDue(
  database: Database,
  options: { readonly marginMs: number; readonly oldestAt: Date | null; readonly limit: number },
): Promise<readonly OutboxRow[]> {
  return await database.write<OutboxRow>(CLAIM_DUE, [options.marginMs, options.oldestAt, options.limit], {
    durable: false,
  });
}

/** How many events wait, counted no further than the limit. */
export async function countEvents(database: Database, limit: number): Promise<number> {
  const [row] = await database.query<{ waiting: number }>(COUNT, [limit]);
  return row?.waiting ?? 0;
}
