/**
 * An operator's decision on a held prize: who decided, and why. The contest service stores the
 * decision in the commit that begins the review; the wallet stores it with the payout.
 */
import { type Refused, refused } from '@laurel/errors';
import { isStorable } from '@laurel/json';

export const MAX_REVIEW_REASON_CHARACTERS = 1_000;

export type AwardReview = {
  readonly decision: 'released' | 'denied';
  /** The name of the operator. */
  readonly operator: string;
  /** Null if the operator gave no reason. */
  readonly reason: string | null;
};

/** Parses a review; null if the caller runs software version 0.2.0, which names no operator. */
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

/** Whether the text is a valid reason: it must not be blank. */
export function isReviewReason(reason: string): boolean {
  return reason.trim() !== '' && isStorable(reason, MAX_REVIEW_REASON_CHARACTERS);
}
