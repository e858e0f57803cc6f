/**
 * An operator's decision on a held prize: who decided, and why. The contest service keeps it from
 * the commit that begins the review, the wallet keeps it with the payout.
 */
import { type Refused, refused } from '@laurel/errors';
import { isStorable } from '@laurel/json';

export const MAX_REVIEW_REASON_CHARACTERS = 1_000;

export type AwardReview = {
  readonly decision: 'released' | 'denied';
  /** The name of the operator. */
  readonly operator: string;
  /** Null if the operator gave none. */
  readonly reason: string | null;
};

/** Parses a review; null if the caller is release 0.2.0, which names no operator. */
export function parseReview(
  decision: AwardReview['decision'],
  { operator, reason }: { readonly operator?: string | undefined; readonly reason?: string | undefined },
): AwardReview | null | Refused {
  if (operator === undefined) return null;
  if (reason !== undefined && !isReviewReason(reason)) {
    return refused('invalid_request', `reason must have 1 to ${MAX_REVIEW_REASON_CHARACTERS} characters.`);
  }
  return { decision, operator, reason: reason ?? null };
}

/** Whether the text is a reason: it must contain more than blanks. */
export function isReviewReason(reason: string): boolean {
  return reason.trim() !== '' && isStorable(reason, MAX_REVIEW_REASON_CHARACTERS);
}
