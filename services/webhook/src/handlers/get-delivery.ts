/** GetDelivery: one delivery with its body and every send. */
import { refused } from '@laurel/errors';
import { type Handlers, parseId } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import { ENVIRONMENTS } from '@laurel/proto/enum-names';
import type { WebhookServiceService } from '@laurel/proto/webhook';
import { findDelivery } from '../repository/delivery-log.ts';
import { presentDelivery } from './present-delivery.ts';

export function getDelivery({ database }: { database: Database }): Handlers<WebhookServiceService>['getDelivery'] {
  return async (request) => {
    const found = await findDelivery(database, parseId(request.developerId), parseId(request.deliveryId));
    if (found === null) return refused('not_found');
    const { endpointId, eventId, tenant, body } = found.stored;
    return {
      delivery: presentDelivery(found.delivery),
      endpointId,
      eventId,
      tenant:
        tenant === null ? undefined : { programId: tenant.programId, environment: ENVIRONMENTS[tenant.environment] },
      body: body.toString('utf8'),
      resendOf: found.resendOf ?? undefined,
    };
  };
}
