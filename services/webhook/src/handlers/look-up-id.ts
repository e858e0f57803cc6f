/** LookUpId: the delivery or the event that an id names, for operators. */
import { type Handlers, parseId, presentTenant } from '@laurel/grpc';
import { parseJson } from '@laurel/json';
import type { Database } from '@laurel/postgres';
import type { FoundItem } from '@laurel/proto/common';
import { ITEM_KINDS } from '@laurel/proto/enum-names';
import type { WebhookServiceService } from '@laurel/proto/webhook';
import { type DeliveryByAnyId, findDeliveriesByAnyId } from '../repository/deliveries-by-id.ts';

export function lookUpId({ database }: { database: Database }): Handlers<WebhookServiceService>['lookUpId'] {
  return async ({ id }) => {
    const found = await findDeliveriesByAnyId(database, parseId(id));
    return { items: found.map(presentDelivery) };
  };
}

function presentDelivery({ kind, eventType, status, tenant, body }: DeliveryByAnyId): FoundItem {
  const { data } = parseJson(body.toString('utf8')) as { readonly data: { readonly attempt_id?: string } };
  return {
    kind: ITEM_KINDS[kind],
    tenant: tenant === null ? undefined : presentTenant(tenant),
    attemptId: data.attempt_id ?? '',
    accountId: '',
    summary: kind === 'event' ? eventType : `${eventType}, ${status}`,
  };
}
