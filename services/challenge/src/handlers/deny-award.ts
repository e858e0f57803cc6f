/** DenyAward: closes a held award unpaid; its claim stays. Again changes nothing. */
import type { Handlers } from '@laurel/grpc';
import type { ChallengeServiceService } from '@laurel/proto/challenge';
import { parseId } from './parse.ts';
import { type ReviewDeps, reviewAward } from './review-award.ts';

export function denyAward(deps: ReviewDeps): Handlers<ChallengeServiceService>['denyAward'] {
  return async (request) =>
    (await reviewAward(parseId(request.awardId), { underWay: 'denying', done: 'denied' }, deps)) ?? {};
}
