/**
 * The dispatcher: sends due deliveries, through the states of domain/delivery.ts, and lets no
 * endpoint delay another (domain/slots.ts).
 *
 *   queue    endpoints that may have something due, per environment (domain/delivery-queues.ts).
 *            The consumer of events and the portal's calls add them immediately. The sweep adds
 *            those with due retries, with leases of dead processes, and with deliveries that
 *            another replica left
 *   lease    one durable statement leases deliveries for all free slots and raises the number of
 *            each send (when: libs/service/src/dispatch-loop.ts)
 *   send     outside of any transaction, with the URL and the secret that `lease` read
 *   record   one statement for all sends that ended meanwhile, which does not wait for the disk
 *            (record-sends.ts)
 *
 * A crash after `lease` leaves a lease. When it has expired, the sweep finds the delivery. The send
 * counts as made, because it may have arrived. Replicas need no coordination: `lease` skips rows
 * that another replica has locked or leased.
 */
import type { Egress, EgressResult } from '@laurel/egress';
import type { Encryption } from '@laurel/encryption';
import type { Database } from '@laurel/postgres';
import { type Clock, createDispatchLoop, type Logger } from '@laurel/service';
import { counter, gauge, histogram } from '@laurel/telemetry';
import type { KnownHealth } from '@laurel/untrusted-url';
import type { Send } from '../domain/delivery.ts';
import { createQueueSlots, type DeliveryQueue, type QueueAllocation, queueKeyOf } from '../domain/delivery-queues.ts';
import type { RetryDelaysMs } from '../domain/retry-schedule.ts';
import { composeHeaders } from '../domain/send-headers.ts';
import { decideResult, ERROR_SENTENCES, type SendEnd } from '../domain/send-result.ts';
import { secretOwner } from '../domain/signing-secret.ts';
import { healthAfter, type SlotUsage } from '../domain/slots.ts';
import { failpoint } from '../failpoints.ts';
import { findQueuesWithDue, type LeasedSends, leaseSends, type SendRecord } from '../repository/sends.ts';
import { createSendRecorder } from './record-sends.ts';

export type DispatcherDeps = {
  readonly database: Database;
  readonly egress: Egress;
  readonly encryption: Encryption;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The time from the start of a send until the last byte of the response that is read. */
  readonly timeoutMs: number;
  readonly retryDelaysMs: RetryDelaysMs;
  /** The most sends in flight in one environment: to one endpoint, and in total. */
  readonly sendsPerEndpoint: number;
  readonly sends: number;
};

export interface Dispatcher extends AsyncDisposable {
  /** Sends what the queues may have due as soon as there is a slot. Never throws, never waits. */
  wake(queues: readonly DeliveryQueue[]): void;
  /** The sweep: wakes every queue that has something due, whichever process inserted it. */
  runOnce(now: Date): Promise<void>;
  /**
   * Resolves once this process knows of nothing due, and each send that it began has ended and is
   * recorded.
   */
  whenIdle(): Promise<void>;
}

/** The defaults of the service's settings (docs/contract/partner-api.md, "Delivery behaviour"). */
export const DEFAULT_SEND_TIMEOUT_MS = 5_000;
export const DEFAULT_SWEEP_MS = 30_000;
/**
 * How long after its timeout a send may be recorded: longer than a busy process or slow commit
 * needs.
 */
const LEASE_MARGIN_MS = 10_000;
/** A response's body is read up to this size; the log shows its beginning. */
const MAX_RESPONSE_BYTES = 16 * 1_024;
const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export function createDispatcher(deps: DispatcherDeps): Dispatcher {
  const { database, egress, encryption, clock, logger, timeoutMs, retryDelaysMs, sends, sendsPerEndpoint } = deps;
  const metrics = createMetrics();
  const slots = createQueueSlots({ sends, sendsPerEndpoint });
  const loop = createDispatchLoop({ name: 'sends', logger, allocate: slots.allocate, lease });
  const recorder = createSendRecorder({ database, logger, isStopping: () => loop.isStopping });

  function wake(queues: readonly DeliveryQueue[]): void {
    for (const queue of queues) slots.enqueue(queue);
    loop.wake();
  }

  async function lease(allocations: readonly QueueAllocation[]): Promise<readonly Promise<void>[]> {
    let leased: LeasedSends | undefined;
    try {
      leased = await leaseAllocated(allocations);
    } finally {
      slots.releaseUnused(allocations, (allocation) => usageOf(allocation, leased));
      metrics.waiting.set(slots.queued);
    }
    return leased.sends.map(deliver);
  }

  async function leaseAllocated(allocations: readonly QueueAllocation[]): Promise<LeasedSends> {
    const now = clock();
    const leasedUntil = new Date(now.getTime() + timeoutMs + LEASE_MARGIN_MS);
    await failpoint('webhook.lease.before-commit');
    const leased = await leaseSends(database, allocations, { now, leasedUntil, keyVersions: encryption.versions });
    await failpoint('webhook.lease.after-commit');
    return leased;
  }

  /** Never rejects. A failure of this service leaves the lease, as a crash would. */
  async function deliver(send: Send): Promise<void> {
    metrics.inFlight.set(slots.inFlight);
    let ended: SendRecord | undefined;
    try {
      ended = await sendOnce(send);
    } catch (error) {
      logger.error({ err: error, delivery: send.deliveryId }, 'a send failed on our side');
    }
    slots.release(send, ended === undefined ? 'failing' : healthOf(ended));
    metrics.inFlight.set(slots.inFlight);
    loop.wake();
    // The recorder has already logged the failure, with its batch.
    if (ended !== undefined) await recorder.submit(ended).catch(() => undefined);
  }

  async function sendOnce(send: Send): Promise<SendRecord> {
    const secret = encryption.decrypt(send.sealedSecret, secretOwner(send.endpointId));
    await failpoint('webhook.send.before-request');
    const begunAt = performance.now();
    const answer = await egress.request({
      method: 'POST',
      url: send.url,
      headers: composeHeaders(send, secret, clock()),
      body: send.body,
      timeoutMs,
      maxBodyBytes: MAX_RESPONSE_BYTES,
    });
    const durationMs = performance.now() - begunAt;
    await failpoint('webhook.send.after-request');
    const result = decideResult(sendEndOf(answer), send.number, clock(), retryDelaysMs);
    metrics.sends.inc({ outcome: result.error?.kind ?? 'delivered', environment: send.environment });
    if (result.error !== null && result.nextSendAt === null) metrics.failed.inc({ environment: send.environment });
    metrics.duration.observe(durationMs / 1_000);
    return { send, durationMs, phases: answer.timings, result };
  }

  return {
    wake,
    async runOnce(now) {
      wake(await findQueuesWithDue(database, now));
    },
    whenIdle: loop.whenIdle,
    [Symbol.asyncDispose]: () => loop[Symbol.asyncDispose](),
  };
}

/** How many of a queue's slots were used. A failed lease used no slot, and more may be due. */
function usageOf(allocation: QueueAllocation, leased: LeasedSends | undefined): SlotUsage {
  if (leased === undefined) return { used: 0, isDrained: false };
  const { rows, sends } = leased.byQueue.get(queueKeyOf(allocation)) ?? { rows: 0, sends: 0 };
  return { used: sends, isDrained: rows < allocation.slots };
}

function healthOf({ result, durationMs }: SendRecord): KnownHealth {
  return healthAfter({ isSuccess: result.error === null, durationMs });
}

function sendEndOf(answer: EgressResult): SendEnd {
  if (answer.kind === 'answer') return { kind: 'answer', status: answer.status, body: answer.body };
  const { error, message } = answer;
  // The process is stopping, which does not count against the endpoint.
  if (error === 'aborted') return { kind: 'failure', error: 'interrupted', sentence: ERROR_SENTENCES.interrupted };
  return { kind: 'failure', error, sentence: message };
}

function createMetrics() {
  return {
    sends: counter(
      'laurel_webhook_sends_total',
      'Sends that ended, by outcome (delivered, or the kind of error) and environment of the delivery.',
      ['outcome', 'environment'],
    ),
    failed: counter('laurel_webhook_deliveries_failed_total', 'Deliveries whose last send failed, by environment.', [
      'environment',
    ]),
    duration: histogram(
      'laurel_webhook_send_duration_seconds',
      'From the beginning of a send to the end of its response.',
      SECONDS,
    ),
    inFlight: gauge('laurel_webhook_sends_in_flight', 'Sends in flight.'),
    waiting: gauge(
      'laurel_webhook_endpoints_waiting',
      'Endpoints that may have something due, counted per environment.',
    ),
  };
}
