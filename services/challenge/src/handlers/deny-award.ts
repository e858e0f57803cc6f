/** DenyAward: closes a held award unpaid; its claim stays. A repeat changes nothing. */

import { type ReviewDeps, reviewAward } from '@laurel/attempts';
import { type Handlers, parseId } from '@laurel/grpc';
import type { ChallengeServiceService } from '@laurel/proto/challenge';
import type { Award } from '../domain/challenge.ts';

export function denyAward(deps: ReviewDeps<Award>): Handlers<ChallengeServiceService>['denyAward'] {
  return async (request) =>
    (await reviewAward(parseId(request.awardId), { underWay: 'denying', done: 'denied' }, deps)) ?? {};
}
