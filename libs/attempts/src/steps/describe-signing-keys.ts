/**
 * A contest service's signing keys, as the gateway reads them. Each has the key id that signed
 * documents state.
 */
import type { Database } from '@laurel/postgres';
import type { SigningKey } from '@laurel/proto/common';
import { keyIdOf } from '@laurel/signature';
import { listSigningKeys } from '../repository/signing-keys.ts';

export async function describeSigningKeys(database: Database): Promise<SigningKey[]> {
  const keys = await listSigningKeys(database);
  return keys.map(({ publicKey, from, until }) => {
    const keyId = keyIdOf(publicKey);
    if (keyId === null) throw new Error('a signing key is not an Ed25519 key');
    return { keyId, publicKey, from, until: until ?? undefined };
  });
}
