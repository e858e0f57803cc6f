/** Each rpc of the tournament service with its handler, and what the handlers need. */
import { ATTEMPT_CALLERS, type StartedAttempts, type Wallet } from '@laurel/attempts';
import { implement, type ServiceImplementation } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import { AttemptServiceService } from '@laurel/proto/attempts';
import { TournamentServiceService } from '@laurel/proto/tournament';
import type { Clock, Logger } from '@laurel/service';
import { CALLERS } from './callers.ts';
import { audit, type RunAudit } from './handlers/audit.ts';
import { cancelRound } from './handlers/cancel-round.ts';
import { closeEntries } from './handlers/close-entries.ts';
import { closeRound } from './handlers/close-round.ts';
import { createTournament } from './handlers/create-tournament.ts';
import { getLeaderboard } from './handlers/get-leaderboard.ts';
import { getProgramTournament } from './handlers/get-program-tournament.ts';
import { getReceipt } from './handlers/get-receipt.ts';
import { getRound } from './handlers/get-round.ts';
import { getTournament } from './handlers/get-tournament.ts';
import { inspectStandings } from './handlers/inspect-standings.ts';
import { listProgramTournaments } from './handlers/list-program-tournaments.ts';
import { listRoundStandings } from './handlers/list-round-standings.ts';
import { listStandings } from './handlers/list-standings.ts';
import { listTournamentRounds } from './handlers/list-tournament-rounds.ts';
import { listTournaments } from './handlers/list-tournaments.ts';
import { openRound } from './handlers/open-round.ts';
import { updateTournamentStatus } from './handlers/update-tournament-status.ts';
import type { RoundCloser } from './workers/close-rounds.ts';
import type { RoundSettler } from './workers/settle-rounds.ts';

type Deps = {
  readonly attempts: StartedAttempts;
  readonly database: Database;
  readonly wallet: Wallet;
  readonly closer: RoundCloser;
  readonly settler: RoundSettler;
  readonly runAudit: RunAudit;
  readonly clock: Clock;
  readonly logger: Logger;
};

export function tournamentRpcs({ attempts, runAudit, ...rest }: Deps): readonly ServiceImplementation[] {
  const deps = { ...rest, ...attempts };
  const own = {
    listTournaments: listTournaments(deps),
    createTournament: createTournament(deps),
    getTournament: getTournament(deps),
    listProgramTournaments: listProgramTournaments(deps),
    getProgramTournament: getProgramTournament(deps),
    listTournamentRounds: listTournamentRounds(deps),
    listRoundStandings: listRoundStandings(deps),
    getRound: getRound(deps),
    inspectStandings: inspectStandings(deps),
    updateTournamentStatus: updateTournamentStatus(deps),
    openRound: openRound(deps),
    cancelRound: cancelRound(deps),
    closeEntries: closeEntries(deps),
    closeRound: closeRound(deps),
    getLeaderboard: getLeaderboard(deps),
    listStandings: listStandings(deps),
    getReceipt: getReceipt(deps),
    audit: audit(runAudit),
  };
  const { logger } = deps;
  return [
    implement(AttemptServiceService, attempts.rpcs, { logger, callers: ATTEMPT_CALLERS }),
    implement(TournamentServiceService, own, { logger, callers: CALLERS }),
  ];
}
