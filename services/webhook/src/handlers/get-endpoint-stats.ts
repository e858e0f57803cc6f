/** GetEndpointStats: what became of an endpoint's deliveries in the last hours. */
import { refused } from '@laurel/errors';
import { type Handlers, parseId } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import type { DeliveryFailure, WebhookServiceService } from '@laurel/proto/webhook';
import type { Clock } from '@laurel/service';
import { MAX_STATS_HOURS } from '@laurel/values/limits';
import { statsPeriod } from '../domain/stats-period.ts';
import { countDeliveries, findLastFailure, type LastFailure, measureSends } from '../repository/delivery-stats.ts';
import { findEndpoint } from '../repository/endpoints.ts';

export function getEndpointStats({
  database,
  clock,
}: {
  database: Database;
  clock: Clock;
}): Handlers<WebhookServiceService>['getEndpointStats'] {
  return async (request) => {
    const { hours } = request;
    if (hours < 1 || hours > MAX_STATS_HOURS) throw new Error(`statistics of ${hours} hours are out of bounds`);
    const endpointId = parseId(request.endpointId);
    const endpoint = await findEndpoint(database, parseId(request.developerId), endpointId);
    if (endpoint === null) return refused('not_found');

    const period = statsPeriod(clock(), hours);
    const { from, starts } = period;
    const [counted, { p50Ms, p95Ms }, failure] = await Promise.all([
      countDeliveries(database, endpointId, period),
      measureSends(database, { endpointId, from }),
      findLastFailure(database, { endpointId, from }),
    ]);
    const { delivered, failed, pending, buckets, countedFrom } = counted;
    return {
      delivered,
      failed,
      pending,
      p50Ms: p50Ms ?? undefined,
      p95Ms: p95Ms ?? undefined,
      lastFailure: failure === null ? undefined : presentFailure(failure),
      buckets: starts.map((start, index) => ({
        from: start,
        delivered: buckets.get(index)?.delivered ?? 0,
        failed: buckets.get(index)?.failed ?? 0,
      })),
      countedFrom: countedFrom ?? undefined,
    };
  };
}

function presentFailure({ deliveryId, at, isClosed, httpStatus, errorKind }: LastFailure): DeliveryFailure {
  if (isClosed) return { deliveryId, at, errorKind: 'endpoint_off' };
  return { deliveryId, at, httpStatus: httpStatus ?? undefined, errorKind: errorKind ?? undefined };
}
