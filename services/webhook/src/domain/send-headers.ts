/**
 * The headers of a send (docs/contract/partner-api.md, "Delivery request"), with those of Standard
 * Webhooks, so that a receiver can use an existing library. Both signatures use the endpoint's
 * secret at the time of the send. The key of Laurel's signature is the whole secret, as the
 * developer saw it. The key of the Standard Webhooks signature is the part after `whsec_`, decoded
 * as base64.
 */
import { createHmac } from 'node:crypto';
import { signWebhook } from '@laurel/signature';

const SECRET_PREFIX = 'whsec_';

export function composeHeaders(
  { deliveryId, eventType, body }: { readonly deliveryId: string; readonly eventType: string; readonly body: Buffer },
  secret: string,
  sentAt: Date,
): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(sentAt.getTime() / 1_000));
  return {
    'Content-Type': 'application/json',
    'X-Webhook-Signature': signWebhook(secret, body),
    'X-Webhook-Event': eventType,
    'X-Webhook-Delivery-Id': deliveryId,
    'webhook-id': deliveryId,
    'webhook-timestamp': timestamp,
    'webhook-signature': signStandardly(secret, deliveryId, timestamp, body),
    'User-Agent': 'Laurel-Webhooks/1',
  };
}

function signStandardly(secret: string, id: string, timestamp: string, body: Buffer): string {
  const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')}`;
}
