import { parseId } from '@laurel/grpc';
import type { KeyUse as KeyUseMessage } from '@laurel/proto/common';
import type { KeyUse } from '../domain/key-use.ts';

const FINGERPRINT_BYTES = 32;

/** Null for an operation without an idempotency key. Throws if the message is not valid. */
export function parseKeyUse(message: KeyUseMessage | undefined): KeyUse | null {
  if (message === undefined) return null;
  if (message.fingerprint.length !== FINGERPRINT_BYTES) throw new Error('a fingerprint has 32 bytes');
  const { keyId, fingerprint, isFirst, usedAt } = message;
  if (usedAt === undefined) throw new Error('a key use has an instant');
  return { keyId: parseId(keyId), fingerprint, isFirst, usedAt };
}
