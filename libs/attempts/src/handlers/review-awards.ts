/**
 * ReleaseAward and DenyAward: an operator's review of a held award, of an attempt or of a rank. A
 * repeat changes nothing.
 */
import { type Handlers, parseId } from '@laurel/grpc';
import type { AttemptServiceService } from '@laurel/proto/attempts';
import { type ReviewDeps, reviewAward } from '../steps/review-award.ts';

/** Pays the award. */
export function releaseAward(deps: ReviewDeps): Handlers<AttemptServiceService>['releaseAward'] {
  return async (request) =>
    (await reviewAward(parseId(request.awardId), { underWay: 'releasing', done: 'paid' }, deps)) ?? {};
}

/** Closes the award unpaid. The claim or rank that won it stays won. */
export function denyAward(deps: ReviewDeps): Handlers<AttemptServiceService>['denyAward'] {
  return async (request) =>
    (await reviewAward(parseId(request.awardId), { underWay: 'denying', done: 'denied' }, deps)) ?? {};
}
