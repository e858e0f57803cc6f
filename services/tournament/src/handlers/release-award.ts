/** ReleaseAward: pays a held purse. A repeat changes nothing. */

import { type ReviewDeps, reviewAward } from '@laurel/attempts';
import { type Handlers, parseId } from '@laurel/grpc';
import type { TournamentServiceService } from '@laurel/proto/tournament';
import type { RoundAward } from '../repository/payouts.ts';

export function releaseAward(deps: ReviewDeps<RoundAward>): Handlers<TournamentServiceService>['releaseAward'] {
  return async (request) =>
    (await reviewAward(parseId(request.awardId), { underWay: 'releasing', done: 'paid' }, deps)) ?? {};
}
