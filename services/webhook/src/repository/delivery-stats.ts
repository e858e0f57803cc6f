/**
 * What became of an endpoint's deliveries in a period. Each statement reads the newest deliveries
 * of the period, up to a fixed number, by the index of the log. The statements have no names: a
 * plan for all endpoints might read the deliveries of every endpoint to find the few of a quiet
 * one.
 */
import type { Queryable } from '@laurel/postgres';
import type { StatsPeriod } from '../domain/stats-period.ts';

/** The most deliveries that are counted, newest first: an endpoint may have millions in 30 days. */
export const MAX_COUNTED_ITEMS = 50_000;
/** The most deliveries whose sends are timed, newest first: each takes a look-up of its sends. */
export const MAX_TIMED_DELIVERIES = 10_000;

export type DeliveryCounts = { readonly delivered: number; readonly failed: number; readonly pending: number };

export type DeliveryStats = DeliveryCounts & {
  /** The deliveries of each bucket that has any, by the bucket's index. */
  readonly buckets: ReadonlyMap<number, DeliveryCounts>;
  /** The oldest counted delivery if older ones of the period are not counted; otherwise null. */
  readonly countedFrom: Date | null;
};

export type LastFailure = {
  readonly deliveryId: string;
  /** When its last send began, or when it was closed. */
  readonly at: Date;
  readonly isClosed: boolean;
  readonly httpStatus: number | null;
  readonly errorKind: string | null;
};

type BucketRow = DeliveryCounts & { bucket: number; oldest: Date };

// A delivery that was created now, or by a replica whose clock is ahead, counts in the last bucket.
const COUNT = {
  text: `
select least(floor(extract(epoch from d.created_at - $2::timestamptz) * 1000 / $3::float8)::int, $4::int) as bucket,
  count(*) filter (where d.status = 'delivered')::int as delivered,
  count(*) filter (where d.status = 'failed')::int as failed,
  count(*) filter (where d.status = 'pending')::int as pending,
  min(d.created_at) as oldest
from (
  select created_at, status from deliveries where endpoint_id = $1 and created_at >= $2
  order by created_at desc, id desc limit ${MAX_COUNTED_ITEMS}
) d
group by bucket`,
};

// A send without a recorded end has no duration.
const DURATIONS = {
  text: `
select percentile_cont(0.5) within group (order by a.duration_ms) as p50_ms,
  percentile_cont(0.95) within group (order by a.duration_ms) as p95_ms
from (
  select id from deliveries where endpoint_id = $1 and created_at >= $2 order by created_at desc, id desc limit ${MAX_TIMED_DELIVERIES}
) d
join delivery_attempts a on a.delivery_id = d.id
where a.duration_ms is not null`,
};

const LAST_FAILURE = {
  text: `
select d.id, coalesce(d.closed_at, a.started_at) as at, d.closed_at is not null as is_closed, a.http_status, a.error_kind
from (
  select id, closed_at from deliveries where endpoint_id = $1 and status = 'failed' and created_at >= $2
  order by created_at desc, id desc limit 1
) d
left join lateral (
  select started_at, http_status, error_kind from delivery_attempts where delivery_id = d.id order by number desc limit 1
) a on true`,
};

/** Counts the deliveries created since the period began, in its buckets. */
export async function countDeliveries(
  on: Queryable,
  endpointId: string,
  { from, bucketMs, starts }: StatsPeriod,
): Promise<DeliveryStats> {
  const rows = await on.query<BucketRow>(COUNT, [endpointId, from, bucketMs, starts.length - 1]);
  const sum = (count: keyof DeliveryCounts) => rows.reduce((total, row) => total + row[count], 0);
  const counts = { delivered: sum('delivered'), failed: sum('failed'), pending: sum('pending') };
  const isCut = counts.delivered + counts.failed + counts.pending === MAX_COUNTED_ITEMS;
  const oldest = rows.toSorted((one, other) => one.bucket - other.bucket)[0]?.oldest ?? null;
  return {
    ...counts,
    buckets: new Map(rows.map(({ bucket, delivered, failed, pending }) => [bucket, { delivered, failed, pending }])),
    countedFrom: isCut ? oldest : null,
  };
}

/** The median and the 95th percentile of the durations of sends; null if none has ended. */
export async function measureSends(
  on: Queryable,
  { endpointId, from }: { readonly endpointId: string; readonly from: Date },
): Promise<{ readonly p50Ms: number | null; readonly p95Ms: number | null }> {
  const [row] = await on.query<{ p50_ms: number | null; p95_ms: number | null }>(DURATIONS, [endpointId, from]);
  return { p50Ms: row?.p50_ms ?? null, p95Ms: row?.p95_ms ?? null };
}

/** The newest delivery of the period that has failed. */
export async function findLastFailure(
  on: Queryable,
  { endpointId, from }: { readonly endpointId: string; readonly from: Date },
): Promise<LastFailure | null> {
  type Row = { id: string; at: Date; is_closed: boolean; http_status: number | null; error_kind: string | null };
  const [row] = await on.query<Row>(LAST_FAILURE, [endpointId, from]);
  if (row === undefined) return null;
  const { id, at, is_closed, http_status, error_kind } = row;
  return { deliveryId: id, at, isClosed: is_closed, httpStatus: http_status, errorKind: error_kind };
}
