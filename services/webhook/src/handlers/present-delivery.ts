/** Maps deliveries to messages, in the form that the log shows. */
import { DELIVERY_STATUSES } from '@laurel/proto/enum-names';
import type { Delivery, DeliveryAttempt } from '@laurel/proto/webhook';
import { MAX_SENDS } from '../domain/retry-schedule.ts';
import { ERROR_SENTENCES } from '../domain/send-result.ts';
import type { LoggedDelivery, LoggedSend } from '../repository/delivery-log.ts';

export function presentDelivery(delivery: LoggedDelivery): Delivery {
  const { sending } = delivery;
  return {
    id: delivery.id,
    event: delivery.eventType,
    status: DELIVERY_STATUSES[delivery.status],
    createdAt: delivery.createdAt,
    // While a send is in flight, no other is due.
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
    dnsMs: send.phases.dnsMs ?? undefined,
    connectMs: send.phases.connectMs ?? undefined,
    waitMs: send.phases.waitMs ?? undefined,
    readMs: send.phases.readMs ?? undefined,
  };
}

/**
 * The log entry of a closing: why the delivery was closed, under the number of the send that was
 * not made. Empty if no number was left.
 */
function presentClosing({ closedAt, sends }: LoggedDelivery): DeliveryAttempt[] {
  const number = (sends.at(-1)?.number ?? 0) + 1;
  if (closedAt === null || number > MAX_SENDS) return [];
  return [{ number, startedAt: closedAt, errorKind: 'endpoint_off', error: ERROR_SENTENCES.endpoint_off }];
}
