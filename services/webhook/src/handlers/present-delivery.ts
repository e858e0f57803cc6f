/** Deliveries as the log shows them, from the words of the domain to messages. */
import { type Delivery, type DeliveryAttempt, DeliveryStatus } from '@laurel/proto/webhook';
import { type DeliveryStatus as DomainStatus, ERROR_SENTENCES } from '../domain/delivery.ts';
import { MAX_SENDS } from '../domain/retry-schedule.ts';
import type { LoggedDelivery, LoggedSend } from '../repository/delivery-log.ts';

const STATUS: Record<DomainStatus, DeliveryStatus> = {
  pending: DeliveryStatus.PENDING,
  delivered: DeliveryStatus.DELIVERED,
  failed: DeliveryStatus.FAILED,
};

export function presentDelivery(delivery: LoggedDelivery): Delivery {
  const { sending } = delivery;
  return {
    id: delivery.id,
    event: delivery.eventType,
    status: STATUS[delivery.status],
    createdAt: delivery.createdAt,
    // While a send is under way, none is due.
    nextAttemptAt: sending === null ? (delivery.nextAttemptAt ?? undefined) : undefined,
    attempts: [...delivery.sends.map(presentSend), ...(sending === null ? presentClosing(delivery) : [sending])],
  };
}

function presentSend(send: LoggedSend): DeliveryAttempt {
  return {
    number: send.number,
    startedAt: send.startedAt,
    durationMs: send.durationMs ?? undefined,
    httpStatus: send.httpStatus ?? undefined,
    errorKind: send.errorKind ?? undefined,
    error: send.error ?? undefined,
    responseExcerpt: send.responseExcerpt ?? undefined,
  };
}

/** The log says why nothing was sent any more in the place of the send that did not come; after the last one there is no such place. */
function presentClosing({ closedAt, sends }: LoggedDelivery): DeliveryAttempt[] {
  const number = (sends.at(-1)?.number ?? 0) + 1;
  if (closedAt === null || number > MAX_SENDS) return [];
  return [{ number, startedAt: closedAt, errorKind: 'endpoint_off', error: ERROR_SENTENCES.endpoint_off }];
}
