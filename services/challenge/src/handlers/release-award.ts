/** ReleaseAward: pays a held award. Again changes nothing. */
import type { Handlers } from '@laurel/grpc';
import type { ChallengeServiceService } from '@laurel/proto/challenge';
import { parseId } from './parse.ts';
import { type ReviewDeps, reviewAward } from './review-award.ts';

export function releaseAward(deps: ReviewDeps): Handlers<ChallengeServiceService>['releaseAward'] {
  return async (request) =>
    (await reviewAward(parseId(request.awardId), { underWay: 'releasing', done: 'paid' }, deps)) ?? {};
}
