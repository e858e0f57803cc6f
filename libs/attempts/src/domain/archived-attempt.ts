/**
 * The attempts of deleted months, which no creation may make again. A month is archived days after
 * it ended (docs/operations/archive.md), and almost every creation names an id that was made for
 * it. So only a creation with an old id is looked up among the archived attempts.
 */
import { instantOfId } from '@laurel/values/ids';
import { isBefore, later } from '@laurel/values/instant';
import { IDEMPOTENCY_USE_RETENTION_MS } from './idempotency-use.ts';
import { ABANDONED_CODE } from './owned-attempt.ts';

/** Whether the id is older than any that an idempotency key still names. */
export function mayBeArchived(attemptId: string, now: Date): boolean {
  return isBefore(instantOfId(attemptId), later(now, -IDEMPOTENCY_USE_RETENTION_MS));
}

/**
 * The archived attempt, as a repeat of its creation meets it. An abandoned one cannot be restarted,
 * because its id may not be written again: the repeat is refused with `code`.
 */
export function knownArchived<Known extends { readonly closedReason: string | null }>(
  attempt: Known,
  code: string,
): Known {
  return attempt.closedReason === ABANDONED_CODE ? { ...attempt, closedReason: code } : attempt;
}
