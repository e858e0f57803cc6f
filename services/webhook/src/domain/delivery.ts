/**
 * A delivery: one body for one endpoint, and its states.
 *
 *   pending    due          `next_attempt_at` has passed. A process leases the delivery, raises
 *                           `attempts` durably, and then sends
 *              scheduled    a send failed and the next one is due later
 *              sending      leased: one process sends it; no other leases it before `leased_until`
 *              interrupted  the lease expired before an end was recorded: due again under the
 *                           next number; failed after the third
 *   delivered  the response to a send was a 2xx; permanent, whatever else is recorded
 *   failed     the third send failed; or the endpoint was switched off, or the program got another
 *              developer (both `closed_at`): final
 *
 *   due, interrupted -> sending    leased, if fewer than three sends have begun
 *   sending -> delivered           a 2xx was recorded; also from any other state, because the
 *                                  receiver has the body
 *   sending -> scheduled | failed  another end of the leased send was recorded; an end that comes
 *                                  too late changes nothing
 *   interrupted -> failed          the statement that leases sends found the third send interrupted
 *   pending -> failed              the endpoint was switched off or deleted
 *   due -> failed                  the statement that leases sends found that the program has
 *                                  another developer
 *   scheduled -> due               a sandbox partner requests the retry now
 *
 * So a body is sent at most three times, whichever process crashes at whatever point: each send's
 * number is raised before the send starts.
 */
import type { Environment, Tenant } from '@laurel/values/tenant';

export type DeliveryStatus = 'pending' | 'delivered' | 'failed';

/** A delivery as it is inserted: due immediately. */
export type NewDelivery = {
  readonly id: string;
  readonly endpointId: string;
  /** The event's id; a test delivery has its own. */
  readonly eventId: string;
  readonly eventType: string;
  /** The tenant of the event; null for a test delivery. */
  readonly tenant: Tenant | null;
  /** The bytes to send. */
  readonly body: Buffer;
  /** The delivery that a developer asked to send again; null for other deliveries. */
  readonly resendOf: string | null;
  readonly createdAt: Date;
};

/** A send that has begun: the delivery's number is raised and it is leased. */
export type Send = {
  readonly deliveryId: string;
  readonly endpointId: string;
  /** The number of the send, from 1. */
  readonly number: number;
  readonly eventType: string;
  readonly body: Buffer;
  readonly url: string;
  /** The stored form: encrypted, and bound to the endpoint's id. */
  readonly sealedSecret: Buffer;
  /** The environment of the event; `test` for a test event that a developer requested. */
  readonly environment: Environment;
  readonly startedAt: Date;
};

/**
 * How long each phase of a send took, in milliseconds; null for a phase that was not reached or not
 * needed.
 */
export type SendPhases = {
  readonly dnsMs: number | null;
  readonly connectMs: number | null;
  readonly waitMs: number | null;
  readonly readMs: number | null;
};
