/**
 * Inserts and closes deliveries, and makes retries due now. The dispatcher leases and records them
 * in sends.ts.
 */

import type { Queryable } from '@laurel/postgres';
import type { Tenant } from '@laurel/values/tenant';
import type { NewDelivery } from '../domain/delivery.ts';
import { isStillOfDeveloperSql } from './programs.ts';

// The stream may redeliver an event whose row in `consumed_events` was deleted: the conflict
// prevents a second delivery.
const INSERT = {
  name: 'deliveries_insert',
  text: `
insert into deliveries (id, endpoint_id, event_id, event_type, program_id, environment, body, resend_of, status, next_attempt_at, created_at)
select n.id, n.endpoint_id, n.event_id, n.event_type, n.program_id, n.environment, n.body, n.resend_of, 'pending', n.created_at, n.created_at
from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::uuid[], $6::text[], $7::bytea[], $8::uuid[], $9::timestamptz[])
  as n (id, endpoint_id, event_id, event_type, program_id, environment, body, resend_of, created_at)
order by n.endpoint_id, n.event_id
on conflict (endpoint_id, event_id) where resend_of is null do nothing`,
};

// Every statement that locks several rows locks them in id order (docs/lock-order.md).
const CLOSE_PENDING = {
  name: 'deliveries_close_pending',
  text: `
with held as (
  select id from deliveries where endpoint_id = $1 and status = 'pending' order by id for no key update
)
update deliveries d
set status = 'failed', closed_at = $2, next_attempt_at = null, leased_until = null, sending_since = null
from held h
where d.id = h.id and d.status = 'pending'`,
};

/**
 * The delivery $1 `d` to an endpoint `e`, if it concerns the program $2 in the environment $3.
 * Either it carries an event of that tenant, or it carries a test event, which belongs to no
 * program, and its endpoint receives the program's events. The endpoint belongs to the program's
 * developer.
 */
export const DELIVERY_OF_TENANT = `
from deliveries d join endpoints e on e.id = d.endpoint_id
where d.id = $1 and e.deleted_at is null and case
  when d.program_id is not null then d.program_id = $2 and d.environment = $3 and ${isStillOfDeveloperSql('d', 'e')}
  else coalesce(e.program_id, $2) = $2 and exists (select from programs where id = $2 and developer_id = e.developer_id)
end`;

// A retry is scheduled if a send failed or was interrupted and it was not the last.
const RETRY_NOW = {
  name: 'deliveries_retry_now',
  text: `
with found as (
  select d.id, d.status = 'pending' and d.attempts between 1 and 2 and (d.leased_until is null or d.leased_until <= $4) as is_scheduled
  ${DELIVERY_OF_TENANT}
  for no key update of d
),
made_due as (
  update deliveries d set next_attempt_at = least(d.next_attempt_at, $4) from found f where d.id = f.id and f.is_scheduled
)
select is_scheduled from found`,
};

/** Inserts all deliveries in one statement. */
export async function insertDeliveries(on: Queryable, deliveries: readonly NewDelivery[]): Promise<void> {
  if (deliveries.length === 0) return;
  await on.query(INSERT, [
    deliveries.map(({ id }) => id),
    deliveries.map(({ endpointId }) => endpointId),
    deliveries.map(({ eventId }) => eventId),
    deliveries.map(({ eventType }) => eventType),
    deliveries.map(({ tenant }) => tenant?.programId ?? null),
    deliveries.map(({ tenant }) => tenant?.environment ?? null),
    deliveries.map(({ body }) => body),
    deliveries.map(({ resendOf }) => resendOf),
    deliveries.map(({ createdAt }) => createdAt),
  ]);
}

/** Inserts a delivery, which is due immediately. */
export async function insertDelivery(on: Queryable, delivery: NewDelivery): Promise<void> {
  await insertDeliveries(on, [delivery]);
}

/**
 * Fails the pending deliveries of an endpoint that is switched off: they are never sent again. A
 * 2xx of a send that is still in flight counts.
 */
export async function closePending(on: Queryable, endpointId: string, now: Date): Promise<void> {
  await on.query(CLOSE_PENDING, [endpointId, now]);
}

/**
 * Makes a scheduled retry due now; the caller wakes the dispatcher. A delivery of another tenant is
 * `not_found`.
 */
export async function retryDeliveryNow(
  on: Queryable,
  id: string,
  tenant: Tenant,
  now: Date,
): Promise<'due_now' | 'not_scheduled' | 'not_found'> {
  const values = [id, tenant.programId, tenant.environment, now];
  const [found] = await on.query<{ is_scheduled: boolean }>(RETRY_NOW, values);
  if (found === undefined) return 'not_found';
  return found.is_scheduled ? 'due_now' : 'not_scheduled';
}
