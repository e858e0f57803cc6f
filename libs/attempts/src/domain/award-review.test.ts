import { isRefused } from '@laurel/errors';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isReviewReason, MAX_REVIEW_REASON_CHARACTERS, parseReview } from './award-review.ts';

const operator = 'ana';

describe('the review of a held award', () => {
  it.each(['denied', 'released'] as const)('a payout may be %s without a reason', (decision) => {
    expect(parseReview(decision, { operator })).toEqual({ decision, operator, reason: null });
  });

  it('a review without an operator is refused even with a reason', () => {
    expect(parseReview('denied', { reason: '' })).toBeNull();
    expect(parseReview('released', { reason: 'played twice' })).toBeNull();
  });

  it.each([
    ['no character', ''],
    ['blanks alone', ' \t\n\u00a0'],
    ['one character too many', 'x'.repeat(MAX_REVIEW_REASON_CHARACTERS + 1)],
    ['a NUL', 'a\0b'],
    ['half a surrogate pair', '\ud800'],
  ])('a reason of %s is refused in either decision', (_, reason) => {
    expect(parseReview('denied', { operator, reason })).toMatchObject({ code: 'invalid_request' });
    expect(parseReview('released', { operator, reason })).toMatchObject({ code: 'invalid_request' });
  });

  it('every reason that is accepted is kept unchanged', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 1_200 }),
        fc.constantFrom('released', 'denied'),
        (reason, decision) => {
          const review = parseReview(decision, { operator, reason });
          if (isReviewReason(reason)) expect(review).toEqual({ decision, operator, reason });
          else expect(review !== null && isRefused(review)).toBe(true);
        },
      ),
    );
  });
});
