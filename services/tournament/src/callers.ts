/** Which service may call which rpc of the tournament service: the gateway all but one, and the integration service what settles a report. */
import type { AcceptedCallers } from '@laurel/grpc';
import type { AttemptServiceService } from '@laurel/proto/attempts';
import type { TournamentServiceService } from '@laurel/proto/tournament';

const GATEWAY = ['gateway'] as const;

export const CALLERS: AcceptedCallers<TournamentServiceService> = {
  createAttempts: GATEWAY,
  reportOutcomes: [...GATEWAY, 'integration'],
  findOpenAttempts: ['integration'],
  getAttempt: GATEWAY,
  listTournaments: GATEWAY,
  getLeaderboard: GATEWAY,
  listStandings: GATEWAY,
  createTournament: GATEWAY,
  getTournament: GATEWAY,
  updateTournamentStatus: GATEWAY,
  openRound: GATEWAY,
  closeEntries: GATEWAY,
  closeRound: GATEWAY,
  inspectAttempt: GATEWAY,
  voidAttempt: GATEWAY,
  expireAttempt: GATEWAY,
  getReceipt: GATEWAY,
  listSigningKeys: GATEWAY,
  releaseAward: GATEWAY,
  denyAward: GATEWAY,
  audit: GATEWAY,
};

export const ATTEMPT_CALLERS: AcceptedCallers<AttemptServiceService> = GATEWAY;
