/**
 * "`Idempotency-Key`, 1 to 255 characters, chosen by the partner" (docs/contract/partner-api.md,
 * "Idempotency").
 */
import { isAtMost } from '@laurel/json';

export const MAX_IDEMPOTENCY_KEY_CHARACTERS = 255;

/**
 * Node decodes header bytes as Latin-1. A key with characters beyond ASCII was most likely sent as
 * UTF-8; it then has fewer characters than the decoded text.
 */
export function isIdempotencyKeyShortEnough(header: string): boolean {
  return (
    isAtMost(header, MAX_IDEMPOTENCY_KEY_CHARACTERS) ||
    isAtMost(Buffer.from(header, 'latin1').toString(), MAX_IDEMPOTENCY_KEY_CHARACTERS)
  );
}
