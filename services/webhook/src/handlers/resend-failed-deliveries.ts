/**
 * ResendFailedDeliveries: sends the failed deliveries of a period again, once per event. Two calls
 * for one endpoint run one after the other. So the second call finds the first call's resends
 * pending, and does not repeat them.
 */
import { isRefused } from '@laurel/errors';
import { type Handlers, parseId } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import type { WebhookServiceService } from '@laurel/proto/webhook';
import type { Clock } from '@laurel/service';
import { newId } from '@laurel/values/ids';
import { firstOf } from '@laurel/values/instant';
import { decideSend } from '../domain/endpoint.ts';
import { lockEndpointToResend } from '../repository/endpoints.ts';
import { findUncovered, insertResends } from '../repository/failed-deliveries.ts';
import type { Dispatcher } from '../workers/deliver.ts';

/** One call resends at most this many deliveries. */
export const MAX_RESENT = 1_000;

export function resendFailedDeliveries({
  database,
  dispatcher,
  clock,
}: {
  database: Database;
  dispatcher: Pick<Dispatcher, 'wake'>;
  clock: Clock;
}): Handlers<WebhookServiceService>['resendFailedDeliveries'] {
  return async (request) => {
    const developerId = parseId(request.developerId);
    const endpointId = parseId(request.endpointId);
    const { from, to } = request;
    if (from === undefined || to === undefined) throw new Error('a period without its beginning or its end');

    const resent = await database.transaction(async (tx) => {
      const endpoint = await lockEndpointToResend(tx, developerId, endpointId);
      const refusal = decideSend(endpoint);
      if (refusal !== null) return refusal;
      // One delivery beyond the limit shows where the next call begins.
      const { uncovered, resumeAt } = await findUncovered(tx, { endpointId, from, to }, MAX_RESENT + 1);
      const createdAt = clock();
      const resends = uncovered.slice(0, MAX_RESENT).map(({ id }) => ({ deliveryId: id, newId: newId(createdAt) }));
      const environments = resends.length === 0 ? [] : await insertResends(tx, resends, createdAt);
      return { environments, resumeAt: firstLeft(uncovered[MAX_RESENT]?.createdAt ?? null, resumeAt) };
    });
    if (isRefused(resent)) return resent;
    dispatcher.wake([...new Set(resent.environments)].map((environment) => ({ endpointId, environment })));
    return { resent: resent.environments.length, resumeFrom: resent.resumeAt ?? undefined };
  };
}

function firstLeft(unsent: Date | null, unexamined: Date | null): Date | null {
  if (unsent === null || unexamined === null) return unsent ?? unexamined;
  return firstOf(unsent, unexamined);
}
