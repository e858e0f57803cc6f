/**
 * An integration's signing secret: 64 hex characters, whose UTF-8 bytes are the key of the HMAC
 * (docs/contract/partner-api.md). Shown once, stored encrypted. At most one previous secret also
 * verifies, until the partner retires it.
 */
import { randomBytes } from 'node:crypto';

const SECRET_BYTES = 32;

export function newSigningSecret(): string {
  return randomBytes(SECRET_BYTES).toString('hex');
}

/**
 * The name that an encrypted signing secret is bound to, so that it cannot be decrypted for another
 * integration.
 */
export function secretOwner(integrationId: string): string {
  return `integration:${integrationId}`;
}
