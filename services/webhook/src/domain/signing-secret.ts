/** An endpoint's signing secret: `whsec_` and 64 hex characters (partner API, "Endpoint registration fields"). Shown once, stored encrypted. */
import { randomBytes } from 'node:crypto';

const SECRET_BYTES = 32;

export function newSigningSecret(): string {
  return `whsec_${randomBytes(SECRET_BYTES).toString('hex')}`;
}

/** What a sealed secret is bound to, so that it opens for no other endpoint. */
export function secretOwner(endpointId: string): string {
  return `endpoint:${endpointId}`;
}
