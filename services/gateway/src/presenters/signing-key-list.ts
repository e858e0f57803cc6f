import type { ListedSigningKey } from '../domain/signing-key-list.ts';
import { timestamp } from './timestamp.ts';

/** The list as JSON text, as `npm run verify-receipt` reads it. */
export function presentSigningKeyList(keys: readonly ListedSigningKey[]): string {
  return JSON.stringify({
    keys: keys.map(({ keyId, publicKey, from, until }) => ({
      key_id: keyId,
      algorithm: 'Ed25519',
      public_key: publicKey.toString('base64'),
      from: timestamp(from),
      until: until === null ? null : timestamp(until),
    })),
  });
}
