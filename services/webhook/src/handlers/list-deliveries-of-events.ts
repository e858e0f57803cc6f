/** ListDeliveriesOfEvents: where the events of a developer's attempt were delivered. */
import { type Handlers, parseId } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import type { WebhookServiceService } from '@laurel/proto/webhook';
import { loadDeliveriesOfEvents } from '../repository/delivery-log.ts';
import { presentDelivery } from './present-delivery.ts';

const MAX_EVENTS = 10;

export function listDeliveriesOfEvents({
  database,
}: {
  database: Database;
}): Handlers<WebhookServiceService>['listDeliveriesOfEvents'] {
  return async ({ developerId, eventIds }) => {
    if (eventIds.length > MAX_EVENTS) throw new Error(`a list of ${eventIds.length} events is out of bounds`);
    const found = await loadDeliveriesOfEvents(database, parseId(developerId), eventIds.map(parseId));
    return {
      deliveries: found.map(({ endpointId, delivery }) => ({ endpointId, delivery: presentDelivery(delivery) })),
    };
  };
}
