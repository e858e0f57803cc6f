/**
 * `X-Webhook-Signature`: `sha256=` and the HMAC-SHA256 of the body's exact bytes in lower-case hexadecimal. The key is the UTF-8 of the
 * whole secret as it was shown, prefix included (docs/contract/partner-api.md, "Delivery request").
 */
import { createHmac, timingSafeEqual } from 'node:crypto';

export function signWebhook(secret: string, body: Uint8Array): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
}

/** Compares in constant time. */
export function verifyWebhook(secret: string, body: Uint8Array, signature: string): boolean {
  const expected = Buffer.from(signWebhook(secret, body), 'utf8');
  const given = Buffer.from(signature, 'utf8');
  return given.length === expected.length && timingSafeEqual(given, expected);
}
