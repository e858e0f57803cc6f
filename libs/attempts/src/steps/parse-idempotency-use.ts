import { parseId } from '@laurel/grpc';
import type { KeyUse } from '@laurel/proto/common';
import type { IdempotencyUse } from '../domain/idempotency-use.ts';

const FINGERPRINT_BYTES = 32;

/**
 * Parses an idempotency use; null for an operation without an idempotency key. Throws if the
 * message is invalid.
 */
export function parseIdempotencyUse(message: KeyUse | undefined): IdempotencyUse | null {
  if (message === undefined) return null;
  if (message.fingerprint.length !== FINGERPRINT_BYTES) throw new Error('a fingerprint has 32 bytes');
  const { keyId, fingerprint, isFirst, usedAt } = message;
  if (usedAt === undefined) throw new Error('an idempotency use has an instant');
  return { idempotencyRecordId: parseId(keyId), fingerprint, isFirst, usedAt };
}
