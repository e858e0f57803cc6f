/** RetryDelivery: a sandbox partner makes the next scheduled retry due now. It counts as that retry. */
import { refused } from '@laurel/errors';
import { type Handlers, parseId, parseTenant } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import type { WebhookServiceService } from '@laurel/proto/webhook';
import type { Clock } from '@laurel/service';
import { hurryDelivery } from '../repository/deliveries.ts';
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
    if (tenant.environment !== 'test') throw new Error('only what is in the sandbox can be hurried');
    const deliveryId = parseId(request.deliveryId);
    const endpointId = await findEndpointOfDelivery(database, tenant, deliveryId);
    if (endpointId === null) return refused('not_found');

    const hurried = await hurryDelivery(database, deliveryId, tenant, clock());
    if (hurried === 'not_found') return refused('not_found');
    if (hurried === 'not_scheduled') return refused('conflict', 'No retry of this delivery is scheduled.');
    dispatcher.wake([endpointId]);
    return {};
  };
}
