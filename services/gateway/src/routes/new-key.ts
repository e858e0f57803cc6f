import { newId } from '@laurel/ids';
import { hashKey, type KeyEnvironment, mintKey } from '../domain/api-key.ts';
import type { NewKey } from '../repository/api-keys.ts';

/** A new API key: what is shown once, and what is stored of it. */
export function newKey(pepper: Buffer, environment: KeyEnvironment): { readonly key: string; readonly stored: NewKey } {
  const { key, prefix, last4 } = mintKey(environment);
  return { key, stored: { id: newId(), environment, hash: hashKey(pepper, key), prefix, last4 } };
}
