/** The routes of `/v1`, in the contract's order. */
import type { HotCalls, OwningServices } from '@laurel/attempt-owners';
import type { WalletClient } from '../../clients/wallet.ts';
import type { V1Route } from '../../http/v1-route.ts';
import { createAttempt } from './create-attempt.ts';
import { getAttempt } from './get-attempt.ts';
import { getLeaderboard } from './get-leaderboard.ts';
import { listChallenges } from './list-challenges.ts';
import { listTournaments } from './list-tournaments.ts';
import { putPlayer } from './put-player.ts';
import { reportOutcome } from './report-outcome.ts';

/** The dependencies of these routes. */
export interface V1Services extends OwningServices {
  readonly wallet: WalletClient;
  readonly hotCalls: HotCalls;
}

export const V1_ROUTES: readonly V1Route<V1Services>[] = [
  listChallenges,
  putPlayer,
  createAttempt,
  reportOutcome,
  getAttempt,
  listTournaments,
  getLeaderboard,
];
