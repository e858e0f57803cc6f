import { newId } from '@laurel/values/ids';
import { hashKey, type KeyEnvironment, mintKey } from '../domain/api-key.ts';
import type { Peppers } from '../domain/peppers.ts';
import type { NewKey } from '../repository/api-keys.ts';

/** A new API key: the text that is shown once, and the stored fields. */
export function newKey(
  peppers: Peppers,
  environment: KeyEnvironment,
): { readonly key: string; readonly stored: NewKey } {
  const { key, prefix, last4 } = mintKey(environment);
  const { version, bytes } = peppers.current;
  const hash = hashKey(bytes, key);
  return { key, stored: { id: newId(), environment, hash, pepperVersion: version, prefix, last4 } };
}
