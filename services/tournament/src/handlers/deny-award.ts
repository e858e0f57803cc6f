/** DenyAward: closes a held purse unpaid; its rank stays. A repeat changes nothing. */

import { type ReviewDeps, reviewAward } from '@laurel/attempts';
import { type Handlers, parseId } from '@laurel/grpc';
import type { TournamentServiceService } from '@laurel/proto/tournament';
import type { RoundAward } from '../repository/payouts.ts';

export function denyAward(deps: ReviewDeps<RoundAward>): Handlers<TournamentServiceService>['denyAward'] {
  return async (request) =>
    (await reviewAward(parseId(request.awardId), { underWay: 'denying', done: 'denied' }, deps)) ?? {};
}
