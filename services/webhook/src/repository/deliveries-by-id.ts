/** What an id names: a delivery, or an event. */
import type { Queryable } from '@laurel/postgres';
import type { Environment, Tenant } from '@laurel/values/tenant';
import type { DeliveryStatus } from '../domain/delivery.ts';

export type DeliveryByAnyId = {
  readonly kind: 'delivery' | 'event';
  readonly eventType: string;
  readonly status: DeliveryStatus;
  /** Null for a test delivery. */
  readonly tenant: Tenant | null;
  readonly body: Buffer;
};

// The index of an event's first delivery begins with the endpoint, so each endpoint is looked up.
/** Exported because a test reads its query plan. */
export const SELECT_BY_ANY_ID = {
  text: `
select 'delivery' as kind, d.event_type, d.status, d.program_id, d.environment, d.body from deliveries d where d.id = $1
union all
(select 'event', d.event_type, d.status, d.program_id, d.environment, d.body
from endpoints e cross join lateral (
  select * from deliveries where endpoint_id = e.id and event_id = $1 and resend_of is null
) d limit 1)`,
};

type Row = {
  kind: DeliveryByAnyId['kind'];
  event_type: string;
  status: DeliveryStatus;
  program_id: string | null;
  environment: Environment | null;
  body: Buffer;
};

export async function findDeliveriesByAnyId(on: Queryable, id: string): Promise<readonly DeliveryByAnyId[]> {
  const rows = await on.query<Row>(SELECT_BY_ANY_ID, [id]);
  return rows.map(({ kind, event_type: eventType, status, program_id: programId, environment, body }) => {
    const tenant = programId === null || environment === null ? null : { programId, environment };
    return { kind, eventType, status, tenant, body };
  });
}
