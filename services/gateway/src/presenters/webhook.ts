import { Environment } from '@laurel/proto/common';
import { DELIVERY_STATUSES, ENVIRONMENTS, nameOf } from '@laurel/proto/enum-names';
import type {
  Delivery,
  DeliveryAttempt,
  DeliveryFailure,
  Endpoint,
  GetDeliveryResponse,
  GetEndpointStatsResponse,
  SandboxEvent,
} from '@laurel/proto/webhook';
import { timestamp } from './timestamp.ts';

/** An endpoint as the portal shows it. Only the response to its creation shows its secret. */
export function presentEndpoint(endpoint: Endpoint) {
  return {
    id: endpoint.id,
    url: endpoint.url,
    events: endpoint.events,
    program_id: endpoint.programId ?? null,
    environment: endpoint.environment === Environment.UNSPECIFIED ? null : nameOf(ENVIRONMENTS, endpoint.environment),
    description: endpoint.description,
    active: endpoint.active,
    created_at: timestamp(endpoint.createdAt),
  };
}

/** A delivery with every send, oldest first. */
export function presentDelivery(delivery: Delivery) {
  return {
    id: delivery.id,
    event: delivery.event,
    status: nameOf(DELIVERY_STATUSES, delivery.status),
    created_at: timestamp(delivery.createdAt),
    next_attempt_at: delivery.nextAttemptAt?.toISOString() ?? null,
    attempts: delivery.attempts.map(presentAttempt),
  };
}

/** A delivery with its body. */
export function presentDeliveryDetail(found: GetDeliveryResponse & { readonly delivery: Delivery }) {
  const { delivery, endpointId, eventId, tenant, body, resendOf } = found;
  return {
    ...presentDelivery(delivery),
    endpoint_id: endpointId,
    event_id: eventId,
    program_id: tenant?.programId ?? null,
    environment: tenant === undefined ? null : nameOf(ENVIRONMENTS, tenant.environment),
    body,
    resend_of: resendOf ?? null,
  };
}

export function presentEndpointStats(hours: number, stats: GetEndpointStatsResponse) {
  const { delivered, failed, pending, p50Ms, p95Ms, lastFailure, countedFrom, buckets } = stats;
  return {
    hours,
    delivered,
    failed,
    pending,
    success_rate: delivered + failed === 0 ? null : delivered / (delivered + failed),
    p50_ms: milliseconds(p50Ms),
    p95_ms: milliseconds(p95Ms),
    last_failure: lastFailure === undefined ? null : presentFailure(lastFailure),
    counted_from: countedFrom?.toISOString() ?? null,
    buckets: buckets.map((bucket) => ({
      from: timestamp(bucket.from),
      delivered: bucket.delivered,
      failed: bucket.failed,
    })),
  };
}

function presentFailure({ at, deliveryId, httpStatus, errorKind }: DeliveryFailure) {
  return {
    at: timestamp(at),
    delivery_id: deliveryId,
    http_status: httpStatus ?? null,
    error_kind: errorKind ?? null,
  };
}

export function presentSandboxEvent({ id, event, createdAt, body, cursor }: SandboxEvent) {
  return { id, event, created_at: timestamp(createdAt), body, cursor };
}

function presentAttempt(attempt: DeliveryAttempt) {
  return {
    number: attempt.number,
    started_at: timestamp(attempt.startedAt),
    duration_ms: milliseconds(attempt.durationMs),
    phases: {
      dns_ms: milliseconds(attempt.dnsMs),
      connect_ms: milliseconds(attempt.connectMs),
      wait_ms: milliseconds(attempt.waitMs),
      read_ms: milliseconds(attempt.readMs),
    },
    http_status: attempt.httpStatus ?? null,
    error_kind: attempt.errorKind ?? null,
    error: attempt.error ?? null,
    response_excerpt: attempt.responseExcerpt ?? null,
  };
}

function milliseconds(measured: number | undefined): number | null {
  return measured === undefined ? null : Math.round(measured);
}
