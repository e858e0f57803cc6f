/** SendTest: delivers `webhook.test` to one endpoint, whatever its subscription. */
import { isRefused } from '@laurel/errors';
import { type Handlers, parseId } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import type { WebhookServiceService } from '@laurel/proto/webhook';
import type { Clock } from '@laurel/service';
import { newId } from '@laurel/values/ids';
import { queueOf } from '../domain/delivery-queues.ts';
import { decideSend } from '../domain/endpoint.ts';
import { composeTestBody } from '../domain/envelope.ts';
import { insertDelivery } from '../repository/deliveries.ts';
import { lockEndpointToSend } from '../repository/endpoints.ts';
import type { Dispatcher } from '../workers/deliver.ts';

const MESSAGE = 'This is a test of your endpoint, sent from the developer portal.';

export function sendTest({
  database,
  dispatcher,
  clock,
}: {
  database: Database;
  dispatcher: Pick<Dispatcher, 'wake'>;
  clock: Clock;
}): Handlers<WebhookServiceService>['sendTest'] {
  return async (request) => {
    const developerId = parseId(request.developerId);
    const endpointId = parseId(request.endpointId);

    const sent = await database.transaction(async (tx) => {
      const endpoint = await lockEndpointToSend(tx, developerId, endpointId);
      const refusal = decideSend(endpoint);
      if (refusal !== null) return refusal;
      const createdAt = clock();
      const delivery = {
        id: newId(createdAt),
        endpointId,
        eventId: newId(createdAt),
        eventType: 'webhook.test',
        tenant: null,
        body: composeTestBody(createdAt, MESSAGE),
        resendOf: null,
        createdAt,
      };
      await insertDelivery(tx, delivery);
      return delivery;
    });
    if (isRefused(sent)) return sent;
    dispatcher.wake([queueOf(sent)]);
    return { deliveryId: sent.id };
  };
}
