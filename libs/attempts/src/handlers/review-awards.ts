/**
 * ReleaseAward and DenyAward: an operator's review of a held award, which an attempt or a rank won.
 * A repeat changes nothing.
 */
import { isRefused } from '@laurel/errors';
import { type Handlers, parseId } from '@laurel/grpc';
import type { AttemptServiceService } from '@laurel/proto/attempts';
import { parseReview } from '../domain/award-review.ts';
import { type ReviewDeps, reviewAward } from '../steps/review-award.ts';

/** Pays a held award. */
export function releaseAward(deps: ReviewDeps): Handlers<AttemptServiceService>['releaseAward'] {
  return async (request) => {
    const by = parseReview('released', request);
    if (by !== null && isRefused(by)) return by;
    return (await reviewAward(parseId(request.awardId), { underWay: 'releasing', done: 'paid', by }, deps)) ?? {};
  };
}

/** Closes the award unpaid. The claim or rank that won it stays won. */
export function denyAward(deps: ReviewDeps): Handlers<AttemptServiceService>['denyAward'] {
  return async (request) => {
    const by = parseReview('denied', request);
    if (by !== null && isRefused(by)) return by;
    return (await reviewAward(parseId(request.awardId), { underWay: 'denying', done: 'denied', by }, deps)) ?? {};
  };
}
