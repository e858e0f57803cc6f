/** Which service may call which rpc of the tournament service. */
import type { AcceptedCallers } from '@laurel/grpc';
import type { TournamentServiceService } from '@laurel/proto/tournament';

const GATEWAY = ['gateway'] as const;

export const CALLERS: AcceptedCallers<TournamentServiceService> = {
  listTournaments: GATEWAY,
  getLeaderboard: GATEWAY,
  listStandings: GATEWAY,
  createTournament: GATEWAY,
  getTournament: GATEWAY,
  listProgramTournaments: GATEWAY,
  getProgramTournament: GATEWAY,
  listTournamentRounds: GATEWAY,
  listRoundStandings: GATEWAY,
  getRound: GATEWAY,
  inspectStandings: GATEWAY,
  updateTournamentStatus: GATEWAY,
  openRound: GATEWAY,
  cancelRound: GATEWAY,
  closeEntries: GATEWAY,
  closeRound: GATEWAY,
  getReceipt: GATEWAY,
  audit: GATEWAY,
};
