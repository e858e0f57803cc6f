/**
 * RetryDelivery: a sandbox partner makes the next scheduled retry due now. It counts as that retry.
 */
import { refused } from '@laurel/errors';
import { type Handlers, parseId, parseTenant } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import type { WebhookServiceService } from '@laurel/proto/webhook';
import type { Clock } from '@laurel/service';
import { retryDeliveryNow } from '../repository/deliveries.ts';
import { findEndpointOfDelivery } from '../repository/delivery-log.ts';
import type { Dispatcher } from '../workers/deliver.ts';

export function retryDelivery({
  database,
  dispatcher,
  clock,
}: {
  database: Database;
  dispatcher: Pick<Dispatcher, 'wake'>;
  clock: Clock;
}): Handlers<WebhookServiceService>['retryDelivery'] {
  return async (request) => {
    const tenant = parseTenant(request.tenant);
    if (tenant.environment !== 'test') throw new Error('only a sandbox delivery can be retried early');
    const deliveryId = parseId(request.deliveryId);
    const endpointId = await findEndpointOfDelivery(database, tenant, deliveryId);
    if (endpointId === null) return refused('not_found');

    const retried = await retryDeliveryNow(database, deliveryId, tenant, clock());
    if (retried === 'not_found') return refused('not_found');
    if (retried === 'not_scheduled') return refused('conflict', 'No retry of this delivery is scheduled.');
    dispatcher.wake([{ endpointId, environment: 'test' }]);
    return {};
  };
}
