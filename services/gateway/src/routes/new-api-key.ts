import { newId } from '@laurel/values/ids';
import { type ApiKeyEnvironment, hashApiKey, mintApiKey } from '../domain/api-key.ts';
import type { Peppers } from '../domain/peppers.ts';
import type { NewKey } from '../repository/api-keys.ts';

/** A new API key: the text that is shown once, and the stored fields. */
export function newApiKey(
  peppers: Peppers,
  environment: ApiKeyEnvironment,
): { readonly key: string; readonly stored: NewKey } {
  const { key, prefix, last4 } = mintApiKey(environment);
  const { version, bytes } = peppers.current;
  const hash = hashApiKey(bytes, key);
  return { key, stored: { id: newId(), environment, hash, pepperVersion: version, prefix, last4 } };
}
