/**
 * A receiver of webhooks first verifies the bytes that arrived, and only then reads them. Needs
 * only WebCrypto.
 */
import type { WebhookEvent } from './api-types.ts';
import { type Bytes, sha256, toHex } from './bytes.ts';
import { parseStrictJson } from './strict-json.ts';
import { bytesOf, isSignature, isSignedByAny, type RawBody } from './webhook-signature.ts';

/**
 * Why a request is not a webhook of Laurel's:
 *
 * - `body_parsed`: the body is an object, so the signed bytes are gone: pass the raw body
 * - `signature_missing`: there is no `X-Webhook-Signature`
 * - `signature_malformed`: it is not `sha256=` and 64 hexadecimal digits, or there are several
 * - `secret_malformed`: a secret signed this body, but it was passed with white space or quotes
 *   around it, or without its `whsec_`
 * - `signature_mismatch`: no secret signed this body: another secret, or a changed body, which an
 *   HMAC cannot distinguish
 * - `body_malformed`: the body was signed, but is not the JSON of an event
 * - `too_old`: the event happened longer ago than `maxAgeMs`
 */
export type WebhookVerificationReason =
  | 'body_parsed'
  | 'signature_missing'
  | 'signature_malformed'
  | 'secret_malformed'
  | 'signature_mismatch'
  | 'body_malformed'
  | 'too_old';

const MESSAGES: Readonly<Record<WebhookVerificationReason, string>> = {
  body_parsed: 'The body was parsed before it was verified: pass the raw bytes or the raw text of the request.',
  signature_missing: 'The request has no X-Webhook-Signature.',
  signature_malformed: 'X-Webhook-Signature is not "sha256=" and 64 hexadecimal digits.',
  secret_malformed:
    'A secret signed this body, but it was passed with white space or quotes around it, or without "whsec_".',
  signature_mismatch: 'None of the secrets signed this body: the secret is another one, or the body was changed.',
  body_malformed: 'The body was signed, and is not the JSON of an event.',
  too_old: 'The event happened longer ago than maxAgeMs.',
};

/**
 * The request must not take effect: respond with 400. The message contains neither the secret nor
 * the body.
 */
export class WebhookVerificationError extends Error {
  readonly reason: WebhookVerificationReason;

  constructor(reason: WebhookVerificationReason) {
    super(MESSAGES[reason]);
    this.name = 'WebhookVerificationError';
    this.reason = reason;
  }
}

/** Headers of a Fetch request or of Node's: names in any case; a repeated header as an array. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface WebhookRequest {
  /** The body as it arrived, before any parser. */
  readonly body: RawBody;
  readonly headers: WebhookHeaders;
  /** The endpoint's whole signing secret, `whsec_...`; both while it is being rotated. */
  readonly secrets: readonly string[];
  /**
   * Refuses events that happened longer ago. No limit by default: the timestamp is the event's, and
   * stays the same when a delivery is retried or resent.
   */
  readonly maxAgeMs?: number;
}

export interface VerifiedWebhook {
  readonly event: WebhookEvent;
  /** `X-Webhook-Delivery-Id`, for the log: it is not signed. Null if absent. */
  readonly deliveryId: string | null;
  /**
   * SHA-256 of the signed body in hexadecimal, the same for every delivery of an event. Skip a
   * webhook whose key you have already processed.
   */
  readonly dedupeKey: string;
}

/**
 * Verifies a webhook and returns its event. Rejects with a `WebhookVerificationError` and its
 * reason if the request is not genuine; with a `TypeError` for an argument that can only be a
 * mistake, such as no secret.
 */
export async function verifyWebhook({ body, headers, secrets, maxAgeMs }: WebhookRequest): Promise<VerifiedWebhook> {
  if (!Array.isArray(secrets) || secrets.length === 0) throw new TypeError('verifyWebhook needs at least one secret');
  if (typeof headers !== 'object' || headers === null) throw new TypeError('headers are not those of a request');
  if (maxAgeMs !== undefined && !(typeof maxAgeMs === 'number' && maxAgeMs >= 0)) {
    throw new TypeError('maxAgeMs is a number of milliseconds');
  }
  const bytes = rawBytesOf(body);
  const signatures = headerValues(headers, 'x-webhook-signature');
  if (signatures.length === 0) throw new WebhookVerificationError('signature_missing');
  const [signature = ''] = signatures;
  if (signatures.length > 1 || !isSignature(signature)) throw new WebhookVerificationError('signature_malformed');
  if (!(await isSignedByAny(bytes, signature, secrets))) {
    const isOneMalformed = await isSignedByAny(bytes, signature, secrets.map(asShown));
    throw new WebhookVerificationError(isOneMalformed ? 'secret_malformed' : 'signature_mismatch');
  }

  const event = parseEvent(bytes);
  if (maxAgeMs !== undefined && !(Date.now() - Date.parse(event.timestamp) <= maxAgeMs)) {
    throw new WebhookVerificationError('too_old');
  }
  const [deliveryId = null] = headerValues(headers, 'x-webhook-delivery-id');
  return { event, deliveryId, dedupeKey: toHex(await sha256(bytes)) };
}

/**
 * Removes what a settings file or a copy may have put around the secret, and adds a lost `whsec_`.
 */
function asShown(secret: string): string {
  const bare = secret.replace(/^[\s"']+|[\s"']+$/g, '');
  return bare.startsWith('whsec_') ? bare : `whsec_${bare}`;
}

function rawBytesOf(body: RawBody): Bytes {
  try {
    return bytesOf(body);
  } catch {
    throw new WebhookVerificationError('body_parsed');
  }
}

function headerValues(headers: WebhookHeaders, name: string): readonly string[] {
  if (typeof (headers as Headers).get === 'function') {
    const value = (headers as Headers).get(name);
    return value === null ? [] : [value];
  }
  return Object.entries(headers as Exclude<WebhookHeaders, Headers>)
    .filter(([key]) => key.toLowerCase() === name)
    .flatMap(([, value]) => value ?? []);
}

function parseEvent(bytes: Bytes): WebhookEvent {
  let value: unknown;
  try {
    value = parseStrictJson(bytes);
  } catch {
    throw new WebhookVerificationError('body_malformed');
  }
  const { event, timestamp, data } = (value ?? {}) as Readonly<Record<string, unknown>>;
  const isEvent =
    typeof event === 'string' && typeof timestamp === 'string' && typeof data === 'object' && data !== null;
  if (!isEvent) throw new WebhookVerificationError('body_malformed');
  return value as WebhookEvent;
}
