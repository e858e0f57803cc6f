/** The routes of `/v1`, in the contract's order. */
import { createAttempt } from './create-attempt.ts';
import { getAttempt } from './get-attempt.ts';
import { getLeaderboard } from './get-leaderboard.ts';
import { listChallenges } from './list-challenges.ts';
import { listTournaments } from './list-tournaments.ts';
import { putPlayer } from './put-player.ts';
import { reportOutcome } from './report-outcome.ts';
import type { V1Route } from './route.ts';

export const V1_ROUTES: readonly V1Route[] = [
  listChallenges,
  putPlayer,
  createAttempt,
  reportOutcome,
  getAttempt,
  listTournaments,
  getLeaderboard,
];
