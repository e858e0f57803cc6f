/**
 * A delivery: one body for one endpoint, and its states.
 *
 *   pending     due         `next_attempt_at` has passed; the process that leases it raises `attempts`, durably, and then sends
 *               scheduled   a send failed and the next one is due later
 *               sending     leased: one process sends it, and no other process leases it before `leased_until`
 *               interrupted the lease has expired without a recorded end: due again, under the next number; after the third it has failed
 *   delivered   a send was answered 2xx; permanent, whatever else is recorded
 *   failed      the third send failed, or the endpoint was switched off (`closed_at`); nothing more is sent
 *
 *   due, interrupted -> sending      leased, while fewer than three sends were begun
 *   sending -> delivered             a 2xx was recorded; also from any other state, because the receiver has the body
 *   sending -> scheduled | failed    another end was recorded, of the send that the lease is for; an end that comes too late changes nothing
 *   interrupted -> failed            found by the statement that leases sends, after the third send
 *   pending -> failed                the endpoint was switched off or deleted
 *   scheduled -> due                 a sandbox partner requests the retry now
 *
 * So a body is sent at most three times, whichever process crashes at whatever point: no send starts before its number is raised.
 */
import type { Environment, Tenant } from '@laurel/tenant';

export type DeliveryStatus = 'pending' | 'delivered' | 'failed';

/** A delivery as it is inserted: due immediately. */
export type NewDelivery = {
  readonly id: string;
  readonly endpointId: string;
  /** The event's id; a test has one of its own. */
  readonly eventId: string;
  readonly eventType: string;
  /** The tenant of the event; null for a test. */
  readonly tenant: Tenant | null;
  /** The bytes that are sent. */
  readonly body: Buffer;
  /** The delivery that a developer asked to send again; null for any other. */
  readonly resendOf: string | null;
  readonly createdAt: Date;
};

/** A send that has begun: the delivery's number is raised and it is leased. */
export type Send = {
  readonly deliveryId: string;
  readonly endpointId: string;
  /** From 1. */
  readonly number: number;
  readonly eventType: string;
  readonly body: Buffer;
  readonly url: string;
  /** As it is stored: encrypted, and bound to the endpoint's id. */
  readonly sealedSecret: Buffer;
  /** That of its event; `test` for one that a developer requested as a test. */
  readonly environment: Environment;
  readonly startedAt: Date;
};

/** How long a send's phases took, in milliseconds; null for one that was not reached or not needed. */
export type Phases = {
  readonly dnsMs: number | null;
  readonly connectMs: number | null;
  readonly waitMs: number | null;
  readonly readMs: number | null;
};
