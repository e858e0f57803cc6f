/**
 * An endpoint's signing secret: `whsec_` and 64 hex characters (docs/contract/partner-api.md,
 * "Endpoint registration"). Shown once, stored encrypted.
 */
import { randomBytes } from 'node:crypto';

const SECRET_BYTES = 32;

export function newSigningSecret(): string {
  return `whsec_${randomBytes(SECRET_BYTES).toString('hex')}`;
}

/**
 * The name that an encrypted secret is bound to, so that it cannot be decrypted for another
 * endpoint.
 */
export function secretOwner(endpointId: string): string {
  return `endpoint:${endpointId}`;
}
