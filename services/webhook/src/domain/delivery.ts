/**
 * One body on its way to one endpoint.
 *
 *   pending     due         `next_attempt_at` has come; whoever claims it raises `attempts`, durably, and then sends
 *               scheduled   a send failed and the next one is due later
 *               sending     leased: one process sends it, and nobody else touches it before `leased_until`
 *               interrupted the lease is over and no end was recorded: due again, under the next number; after the third one it failed
 *   delivered   a send was answered 2xx; that stays so, whatever else is recorded
 *   failed      the third send failed, or the endpoint went off (`closed_at`); nothing is sent any more
 *
 *   due, interrupted -> sending      claimed, while fewer than three sends were begun
 *   sending -> delivered             a 2xx was recorded; also from any other state: what was delivered was delivered
 *   sending -> scheduled | failed    another end was recorded, of the send that the lease is for; an end that comes too late changes nothing
 *   interrupted -> failed            found by a claim after the third send
 *   pending -> failed                the endpoint went off or was deleted
 *   scheduled -> due                 a person hurries it
 *
 * So a body is sent at most three times, whatever dies when: a send without its number being raised before does not exist.
 */
import type { Tenant } from './endpoint.ts';
import { nextSendAt, type RetryDelaysMs } from './retry-schedule.ts';

export type DeliveryStatus = 'pending' | 'delivered' | 'failed';

/** What is written when a body is to be delivered; due at once. */
export type NewDelivery = {
  readonly id: string;
  readonly endpointId: string;
  /** The event's id; a test has one of its own. */
  readonly eventId: string;
  readonly eventType: string;
  /** Whose event; null for a test. */
  readonly tenant: Tenant | null;
  /** The bytes that are sent. */
  readonly body: Buffer;
  /** The delivery that a person asked to send again. */
  readonly resendOf: string | null;
  readonly createdAt: Date;
};

/** A send that has begun: the delivery's number is raised and its lease taken. */
export type Send = {
  readonly deliveryId: string;
  readonly endpointId: string;
  /** From 1. */
  readonly number: number;
  readonly eventType: string;
  readonly body: Buffer;
  readonly url: string;
  /** As it is stored: sealed, bound to the endpoint's id. */
  readonly sealedSecret: Buffer;
  readonly startedAt: Date;
};

/** How long a send's phases took, in milliseconds; null for one that was not reached or not needed. */
export type Phases = {
  readonly dnsMs: number | null;
  readonly connectMs: number | null;
  readonly waitMs: number | null;
  readonly readMs: number | null;
};

/** Why a send failed before an answer came. */
export type FailureKind = 'dns' | 'blocked' | 'connect' | 'tls' | 'timeout' | 'protocol';

/** Every kind of error that the log shows: before an answer, by the answer's status, or without an end that anybody heard of. */
export type ErrorKind = FailureKind | 'http_3xx' | 'http_4xx' | 'http_5xx' | 'interrupted';

/** What came of a send. */
export type SendEnd =
  | {
      readonly kind: 'answer';
      /** 200 to 599: whatever else a server says is no answer. */
      readonly status: number;
      readonly body: Buffer;
    }
  | { readonly kind: 'failure'; readonly error: FailureKind | 'interrupted'; readonly sentence: string };

/** What is recorded of it. */
export type SendResult = {
  readonly httpStatus: number | null;
  /** Null after a 2xx. */
  readonly error: { readonly kind: ErrorKind; readonly sentence: string } | null;
  readonly responseExcerpt: string | null;
  /** When the next send is due; null after a 2xx and after the last one. */
  readonly nextSendAt: Date | null;
};

/** What the log says to whoever reads it, where no connection did (libs/egress has the sentences for those). */
export const ERROR_SENTENCES = {
  http_3xx: 'The answer was a redirect, and redirects are not followed.',
  http_4xx: 'The answer was a client error; only 2xx counts as success.',
  http_5xx: 'The answer was a server error; only 2xx counts as success.',
  interrupted: 'The send was interrupted on our side; whether it arrived is not known.',
  endpoint_off: 'The endpoint was off.',
} as const satisfies Record<Exclude<ErrorKind, FailureKind> | 'endpoint_off', string>;

const EXCERPT_CHARACTERS = 1_000;
/** Enough bytes for so many characters of at most four bytes each. */
const EXCERPT_BYTES = 4 * EXCERPT_CHARACTERS + 4;

/** Any 2xx is a success; everything else, 4xx included, is a failure (partner API, "Delivery behaviour"). */
export function decideResult(end: SendEnd, number: number, endedAt: Date, delaysMs: RetryDelaysMs): SendResult {
  const error = errorOf(end);
  return {
    httpStatus: end.kind === 'answer' ? end.status : null,
    error,
    responseExcerpt: end.kind === 'answer' ? excerptOf(end.body) : null,
    nextSendAt: error === null ? null : nextSendAt(number, endedAt, delaysMs),
  };
}

function errorOf(end: SendEnd): SendResult['error'] {
  if (end.kind === 'failure') return { kind: end.error, sentence: end.sentence };
  const kind = errorKindOf(end.status);
  return kind === null ? null : { kind, sentence: ERROR_SENTENCES[kind] };
}

function errorKindOf(status: number): Exclude<ErrorKind, FailureKind> | null {
  if (status >= 200 && status < 300) return null;
  if (status < 400) return 'http_3xx';
  return status < 500 ? 'http_4xx' : 'http_5xx';
}

/**
 * The body's first 1,000 characters, counted as PostgreSQL counts them: by code point. What is no UTF-8 becomes U+FFFD, and NUL, which a
 * text column refuses, is left out.
 */
export function excerptOf(body: Buffer): string {
  const text = withoutNul(body).toString('utf8', 0, EXCERPT_BYTES);
  if (text.length <= EXCERPT_CHARACTERS) return text;
  let units = 0;
  for (let taken = 0; taken < EXCERPT_CHARACTERS && units < text.length; taken += 1) {
    units += (text.codePointAt(units) ?? 0) > 0xffff ? 2 : 1;
  }
  return text.slice(0, units);
}

/** NUL is the byte 0 in UTF-8, and part of no other character. */
function withoutNul(body: Buffer): Buffer {
  return body.includes(0) ? Buffer.from(body.filter((byte) => byte !== 0)) : body;
}
