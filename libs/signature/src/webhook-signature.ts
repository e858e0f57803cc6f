/**
 * `X-Webhook-Signature`: `sha256=` and the HMAC-SHA256 of the body's exact bytes in lower-case hexadecimal. The key is the UTF-8 of the
 * whole secret as it was shown, prefix included (docs/contract/partner-api.md, "Delivery request").
 */
import { createHmac } from 'node:crypto';

export function signWebhook(secret: string, body: Uint8Array): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
}
