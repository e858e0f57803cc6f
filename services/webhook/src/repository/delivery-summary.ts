/**
 * What became of the deliveries of one tenant's events, over all endpoints of its developer that
 * may get them: at most 20. As in delivery-stats.ts the statement has no name.
 */
import type { Queryable } from '@laurel/postgres';
import type { Tenant } from '@laurel/values/tenant';
import type { DeliveryCounts } from './delivery-stats.ts';

/** The most deliveries of each endpoint that are searched, newest first. */
export const MAX_EXAMINED_EACH = 10_000;
/**
 * For each endpoint, the first successful delivery is searched for among this many of the oldest
 * ones.
 */
const MAX_OLDEST = 1_000;

export type DeliverySummary = DeliveryCounts & {
  /**
   * Set if an endpoint has more deliveries than are counted: only later ones than this are counted.
   */
  readonly countedFrom: Date | null;
  readonly endpointCreatedAt: Date | null;
  /** When the first successful delivery was created, among the deliveries that were searched. */
  readonly deliveredAt: Date | null;
};

const SUMMARIZE = {
  text: `
select coalesce(sum(recent.delivered), 0)::int as delivered, coalesce(sum(recent.failed), 0)::int as failed,
  coalesce(sum(recent.pending), 0)::int as pending,
  max(recent.oldest) filter (where recent.examined = ${MAX_EXAMINED_EACH}) as counted_from,
  min(e.created_at) as endpoint_created_at,
  min(least(early.delivered_at, recent.delivered_at)) as delivered_at
from endpoints e
cross join lateral (
  select count(*) filter (where d.is_own and d.status = 'delivered') as delivered,
    count(*) filter (where d.is_own and d.status = 'failed') as failed,
    count(*) filter (where d.is_own and d.status = 'pending') as pending,
    min(d.created_at) filter (where d.is_own and d.status = 'delivered') as delivered_at,
    min(d.created_at) as oldest, count(*) as examined
  from (
    select created_at, status, program_id = $2 and environment = $3 as is_own from deliveries
    where endpoint_id = e.id and created_at >= $4
    order by created_at desc, id desc limit ${MAX_EXAMINED_EACH}
  ) d
) recent
cross join lateral (
  select min(d.created_at) filter (where d.is_own and d.status = 'delivered') as delivered_at
  from (
    select created_at, status, program_id = $2 and environment = $3 as is_own from deliveries
    where endpoint_id = e.id order by created_at, id limit ${MAX_OLDEST}
  ) d
) early
where e.developer_id = $1 and e.deleted_at is null
  and (e.program_id is null or e.program_id = $2) and (e.environment is null or e.environment = $3)`,
};

export async function summarizeDeliveries(
  on: Queryable,
  developerId: string,
  { programId, environment }: Tenant,
  from: Date,
): Promise<DeliverySummary> {
  type Row = DeliveryCounts & {
    counted_from: Date | null;
    endpoint_created_at: Date | null;
    delivered_at: Date | null;
  };
  const [row] = await on.query<Row>(SUMMARIZE, [developerId, programId, environment, from]);
  if (row === undefined) throw new Error('a sum over endpoints has no row');
  const { delivered, failed, pending, counted_from, endpoint_created_at, delivered_at } = row;
  return {
    delivered,
    failed,
    pending,
    countedFrom: counted_from,
    endpointCreatedAt: endpoint_created_at,
    deliveredAt: delivered_at,
  };
}
