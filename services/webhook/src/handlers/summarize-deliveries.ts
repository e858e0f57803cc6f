/** SummarizeDeliveries: what became of the deliveries of a program's events in one environment. */
import { type Handlers, parseId, parseTenant } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import type { WebhookServiceService } from '@laurel/proto/webhook';
import { summarizeDeliveries as summarize } from '../repository/delivery-summary.ts';

export function summarizeDeliveries({
  database,
}: {
  database: Database;
}): Handlers<WebhookServiceService>['summarizeDeliveries'] {
  return async ({ developerId, tenant, from }) => {
    if (from === undefined) throw new Error('a period without its beginning');
    const found = await summarize(database, parseId(developerId), parseTenant(tenant), from);
    const { delivered, failed, pending, countedFrom, endpointCreatedAt, deliveredAt } = found;
    return {
      delivered,
      failed,
      pending,
      countedFrom: countedFrom ?? undefined,
      endpointCreatedAt: endpointCreatedAt ?? undefined,
      deliveredAt: deliveredAt ?? undefined,
    };
  };
}
