/** Deletes old rows, a bounded number per statement. */
import type { Queryable } from '@laurel/postgres';

// A pending delivery stays, however old it is. A row that another transaction has locked is
// skipped; a later run deletes it.
const DELETE_DELIVERIES = {
  text: `
with deleted as (
  delete from deliveries where id in (
    select id from deliveries where created_at < $1 and status <> 'pending'
    order by created_at limit $2 for update skip locked
  ) returning id
)
select count(*)::int as deleted from deleted`,
};

const DELETE_ENDPOINTS = {
  text: `
with deleted as (
  delete from endpoints where id in (
    select e.id from endpoints e
    where e.deleted_at is not null and not exists (select from deliveries d where d.endpoint_id = e.id)
    limit $1 for update skip locked
  ) returning id
)
select count(*)::int as deleted from deleted`,
};

const DELETE_CONSUMED = {
  text: `
with deleted as (
  delete from consumed_events where id in (
    select id from consumed_events where consumed_at < $1 order by consumed_at limit $2 for update skip locked
  ) returning id
)
select count(*)::int as deleted from deleted`,
};

const DELETE_SANDBOX_EVENTS = {
  text: `
with deleted as (
  delete from sandbox_events where (program_id, position) in (
    select program_id, position from sandbox_events where created_at < $1 order by created_at, position limit $2 for update skip locked
  ) returning 1
)
select count(*)::int as deleted from deleted`,
};

/** Deletes the log's rows older than `before`, with their sends; returns their number. */
export async function deleteOldDeliveries(on: Queryable, before: Date, limit: number): Promise<number> {
  return count(await on.query(DELETE_DELIVERIES, [before, limit]));
}

/** Deletes the rows of deleted endpoints that have no delivery left; returns their number. */
export async function deleteEndpointsWithoutLog(on: Queryable, limit: number): Promise<number> {
  return count(await on.query(DELETE_ENDPOINTS, [limit]));
}

/** Deletes the rows of events that the stream cannot deliver again; returns their number. */
export async function deleteOldConsumedEvents(on: Queryable, before: Date, limit: number): Promise<number> {
  return count(await on.query(DELETE_CONSUMED, [before, limit]));
}

/**
 * Deletes the sandbox events older than `before`; returns their number. Each program's last
 * position stays.
 */
export async function deleteOldSandboxEvents(on: Queryable, before: Date, limit: number): Promise<number> {
  return count(await on.query(DELETE_SANDBOX_EVENTS, [before, limit]));
}

function count([row]: readonly { deleted: number }[]): number {
  return row?.deleted ?? 0;
}
