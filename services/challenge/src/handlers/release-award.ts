/** ReleaseAward: pays a held award. A repeat changes nothing. */

import { type ReviewDeps, reviewAward } from '@laurel/attempts';
import { type Handlers, parseId } from '@laurel/grpc';
import type { ChallengeServiceService } from '@laurel/proto/challenge';
import type { Award } from '../domain/challenge.ts';

export function releaseAward(deps: ReviewDeps<Award>): Handlers<ChallengeServiceService>['releaseAward'] {
  return async (request) =>
    (await reviewAward(parseId(request.awardId), { underWay: 'releasing', done: 'paid' }, deps)) ?? {};
}
