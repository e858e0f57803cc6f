/**
 * The failed deliveries of an endpoint that are uncovered: no other delivery of their event to that
 * endpoint is pending or has been delivered.
 */
import type { Queryable } from '@laurel/postgres';
import type { Environment } from '@laurel/values/tenant';
import { isStillOfDeveloperSql } from './programs.ts';

/** A failed delivery that is to be sent again, as a delivery with the id `newId`. */
export type Resend = { readonly deliveryId: string; readonly newId: string };

export type UncoveredDelivery = { readonly id: string; readonly createdAt: Date };

/** Each scan for failed deliveries ends after this many. */
export const MAX_EXAMINED_DELIVERIES = 10_000;

// An event that failed several times counts once, as its oldest failure. `resume_at` is set if the
// scan ended before the period did.
//
// Another delivery of the event is looked up twice: an event's deliveries have two partial indexes.
const SELECT_UNCOVERED = {
  text: `
with examined as materialized (
  select id, event_id, program_id, created_at from deliveries
  where endpoint_id = $1 and status = 'failed' and created_at >= $2 and created_at < $3
  order by created_at, id limit ${MAX_EXAMINED_DELIVERIES}
),
uncovered as (
  select distinct on (f.event_id) f.id, f.created_at
  from examined f
  where exists (select from endpoints e where e.id = $1 and ${isStillOfDeveloperSql('f', 'e')})
    and not exists (
      select from deliveries o
      where o.endpoint_id = $1 and o.event_id = f.event_id and o.resend_of is null and o.status <> 'failed'
    )
    and not exists (
      select from deliveries o
      where o.endpoint_id = $1 and o.event_id = f.event_id and o.resend_of is not null and o.status <> 'failed'
    )
  order by f.event_id, f.created_at, f.id
)
select u.id, u.created_at, scan.resume_at
from (select case when count(*) = ${MAX_EXAMINED_DELIVERIES} then max(created_at) end as resume_at from examined) scan
left join lateral (select id, created_at from uncovered order by created_at, id limit $4) u on true
order by u.created_at, u.id`,
};

// New deliveries are inserted by endpoint and event (docs/lock-order.md).
const INSERT_RESENDS = {
  text: `
insert into deliveries (id, endpoint_id, event_id, event_type, program_id, environment, body, resend_of, status, next_attempt_at, created_at)
select n.id, d.endpoint_id, d.event_id, d.event_type, d.program_id, d.environment, d.body, d.id, 'pending', $3, $3
from unnest($1::uuid[], $2::uuid[]) as n (id, resend_of) join deliveries d on d.id = n.resend_of
order by d.endpoint_id, d.event_id
returning coalesce(environment, 'test') as environment`,
};

/**
 * The uncovered failures created from `from` on and before `to`, oldest first, at most `limit`. The
 * scan continues at `resumeAt` if it is not null.
 */
export async function findUncovered(
  on: Queryable,
  { endpointId, from, to }: { readonly endpointId: string; readonly from: Date; readonly to: Date },
  limit: number,
): Promise<{ readonly uncovered: readonly UncoveredDelivery[]; readonly resumeAt: Date | null }> {
  type Row = { id: string | null; created_at: Date; resume_at: Date | null };
  const rows = await on.query<Row>(SELECT_UNCOVERED, [endpointId, from, to, limit]);
  const uncovered = rows.flatMap(({ id, created_at }) => (id === null ? [] : [{ id, createdAt: created_at }]));
  return { uncovered, resumeAt: rows[0]?.resume_at ?? null };
}

/** Inserts the resends, due immediately; returns the environment of each resend's queue. */
export async function insertResends(
  on: Queryable,
  resends: readonly Resend[],
  createdAt: Date,
): Promise<readonly Environment[]> {
  const values = [resends.map(({ newId }) => newId), resends.map(({ deliveryId }) => deliveryId), createdAt];
  const rows = await on.query<{ environment: Environment }>(INSERT_RESENDS, values);
  return rows.map(({ environment }) => environment);
}
