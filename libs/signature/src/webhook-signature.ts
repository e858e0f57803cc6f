/**
 * `X-Webhook-Signature`: `sha256=` and the lower-case hexadecimal HMAC-SHA256 of the body's exact
 * bytes. The key is the whole displayed secret in UTF-8, prefix included
 * (docs/contract/partner-api.md, "Delivery request").
 */
import { createHmac } from 'node:crypto';

export function signWebhook(secret: string, body: Uint8Array): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
}
