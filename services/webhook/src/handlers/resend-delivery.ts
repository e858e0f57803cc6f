/**
 * ResendDelivery: sends the same bytes of an event again, as a new delivery, which can be resent
 * too.
 */
import { isRefused, refused } from '@laurel/errors';
import { type Handlers, parseId } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import type { WebhookServiceService } from '@laurel/proto/webhook';
import type { Clock } from '@laurel/service';
import { newId } from '@laurel/values/ids';
import { queueOf } from '../domain/delivery-queues.ts';
import { decideSend } from '../domain/endpoint.ts';
import { insertDelivery } from '../repository/deliveries.ts';
import { findStoredDelivery } from '../repository/delivery-log.ts';
import { lockEndpointToSend } from '../repository/endpoints.ts';
import type { Dispatcher } from '../workers/deliver.ts';

export function resendDelivery({
  database,
  dispatcher,
  clock,
}: {
  database: Database;
  dispatcher: Pick<Dispatcher, 'wake'>;
  clock: Clock;
}): Handlers<WebhookServiceService>['resendDelivery'] {
  return async (request) => {
    const developerId = parseId(request.developerId);
    const deliveryId = parseId(request.deliveryId);

    const resent = await database.transaction(async (tx) => {
      const original = await findStoredDelivery(tx, developerId, deliveryId);
      if (original === null) return refused('not_found');
      const endpoint = await lockEndpointToSend(tx, developerId, original.endpointId);
      const refusal = decideSend(endpoint);
      if (refusal !== null) return refusal;
      const createdAt = clock();
      const delivery = { ...original, id: newId(createdAt), resendOf: original.id, createdAt };
      await insertDelivery(tx, delivery);
      return delivery;
    });
    if (isRefused(resent)) return resent;
    dispatcher.wake([queueOf(resent)]);
    return { deliveryId: resent.id };
  };
}
