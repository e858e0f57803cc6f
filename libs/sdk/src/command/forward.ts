/** Sends an event to the developer's server like Laurel: the same body, headers and signatures. */
import { createHmac } from 'node:crypto';
import type { SandboxEvent } from '../api-types.ts';
import { signWebhook } from '../webhook-signature.ts';
import { messageOf } from './command.ts';

/**
 * `unreachable`: no response, for example while the server restarts. `failed`: a response other
 * than 2xx, or none in time.
 */
export type ForwardResult =
  | { readonly kind: 'delivered'; readonly status: number }
  | { readonly kind: 'failed'; readonly why: string }
  | { readonly kind: 'unreachable'; readonly why: string };

/** The time limit that a real delivery has, too. */
const TIMEOUT_MS = 5_000;
const SECRET_PREFIX = 'whsec_';

/**
 * Forwards an event. If the signal ends the delivery under way, rejects with the signal's reason;
 * the event may have arrived nevertheless.
 */
export async function forward(
  event: SandboxEvent,
  url: string,
  secret: string,
  signal: AbortSignal,
): Promise<ForwardResult> {
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: await headersOf(event, secret, new Date()),
      body: event.body,
      redirect: 'manual',
      signal: AbortSignal.any([timeout, signal]),
    });
    await response.arrayBuffer();
    const { ok, status } = response;
    return ok ? { kind: 'delivered', status } : { kind: 'failed', why: String(status) };
  } catch (error) {
    signal.throwIfAborted();
    if (timeout.aborted) return { kind: 'failed', why: `no answer in ${TIMEOUT_MS / 1_000} s` };
    return { kind: 'unreachable', why: messageOf(error) };
  }
}

/** The delivery id is the event's id: the same for every try, even after a restart. */
export async function headersOf(
  { id, event, body }: Pick<SandboxEvent, 'id' | 'event' | 'body'>,
  secret: string,
  sentAt: Date,
): Promise<Record<string, string>> {
  const timestamp = String(Math.floor(sentAt.getTime() / 1_000));
  return {
    'content-type': 'application/json',
    'x-webhook-signature': await signWebhook(body, secret),
    'x-webhook-event': event,
    'x-webhook-delivery-id': id,
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signStandardly(secret, `${id}.${timestamp}.${body}`),
    'user-agent': 'Laurel-Webhooks/1',
  };
}

/** Standard Webhooks: the key is the part after `whsec_`, decoded as base64. */
function signStandardly(secret: string, content: string): string {
  const encoded = secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : secret;
  return `v1,${createHmac('sha256', Buffer.from(encoded, 'base64')).update(content).digest('base64')}`;
}
