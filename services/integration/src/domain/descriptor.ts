/** How a partner's bodies are read. */
import { type Refused, refused } from '@laurel/errors';
import type { Transport } from './integration.ts';

export type Descriptor = object;

export function parseDescriptor(json: unknown, _transport: Transport): Descriptor | Refused {
  if (typeof json === 'object' && json !== null && !Array.isArray(json)) return json;
  return refused('invalid_request', 'descriptor must be an object.');
}
