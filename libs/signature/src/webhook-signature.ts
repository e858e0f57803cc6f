/**
 * `X-Webhook-Signature`: `sha256=` and the HMAC-SHA256 of the body's exact bytes in lower-case hexadecimal. The key is the UTF-8 of the
 * whole secret as it was shown, prefix included (contract, "Events").
 */
import { createHmac, timingSafeEqual } from 'node:crypto';

export function signWebhook(secret: string, body: Uint8Array): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
}

/** Takes the same time wherever a wrong signature differs. */
export function verifyWebhook(secret: string, body: Uint8Array, signature: string): boolean {
  const expected = Buffer.from(signWebhook(secret, body), 'utf8');
  const given = Buffer.from(signature, 'utf8');
  return given.length === expected.length && timingSafeEqual(given, expected);
}
