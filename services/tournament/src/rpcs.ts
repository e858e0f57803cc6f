/** Each rpc of the tournament service, with its handler and what the handlers need. */
import {
  type AccountCache,
  type AttemptExpirer,
  type AttemptOpener,
  type AwardPayer,
  type AwardTable,
  attemptHandlers,
  type CandidateReads,
  type OwnerFoundation,
  type PendingResolver,
  previousRpcs,
} from '@laurel/attempts';
import { implement, type ServiceImplementation } from '@laurel/grpc';
import { AttemptServiceService } from '@laurel/proto/attempts';
import { TournamentServiceService } from '@laurel/proto/tournament';
import { ATTEMPT_CALLERS, CALLERS } from './callers.ts';
import { roundContest } from './contest.ts';
import { audit, type RunAudit } from './handlers/audit.ts';
import { closeEntries } from './handlers/close-entries.ts';
import { closeRound } from './handlers/close-round.ts';
import { createAttempts } from './handlers/create-attempts.ts';
import { createTournament } from './handlers/create-tournament.ts';
import { findOpenAttempts } from './handlers/find-open-attempts.ts';
import { getLeaderboard } from './handlers/get-leaderboard.ts';
import { getReceipt } from './handlers/get-receipt.ts';
import { getTournament } from './handlers/get-tournament.ts';
import { listStandings } from './handlers/list-standings.ts';
import { listTournaments } from './handlers/list-tournaments.ts';
import { openRound } from './handlers/open-round.ts';
import { reportOutcomes } from './handlers/report-outcomes.ts';
import type { AttemptReservations } from './handlers/reserve-attempts.ts';
import type { OutcomeSettlements } from './handlers/settle-outcomes.ts';
import { updateTournamentStatus } from './handlers/update-tournament-status.ts';
import type { RoundAward } from './repository/payouts.ts';
import type { RoundEnd } from './repository/rounds.ts';
import type { RoundCloser } from './workers/close-rounds.ts';
import type { RoundSettler } from './workers/settle-rounds.ts';

type Deps = Pick<OwnerFoundation<'tournament'>, 'owner' | 'database' | 'wallet' | 'clock' | 'logger'> & {
  readonly attemptTtlMs: number;
  readonly accounts: AccountCache;
  readonly opener: AttemptOpener;
  readonly resolver: PendingResolver;
  readonly expirer: AttemptExpirer<'round_closed'>;
  readonly payer: AwardPayer<RoundAward>;
  readonly awards: AwardTable<RoundAward>;
  readonly reservations: AttemptReservations;
  readonly settlements: OutcomeSettlements;
  readonly closer: RoundCloser;
  readonly settler: RoundSettler;
  readonly openAttempts: CandidateReads<RoundEnd>;
  readonly runAudit: RunAudit;
};

export function tournamentRpcs({ openAttempts, runAudit, ...rest }: Deps): readonly ServiceImplementation[] {
  const contest = roundContest(rest);
  const loadAttempt = async (id: string) => (await contest.findAttempt(id))?.attempt ?? null;
  const deps = { ...rest, contest, loadAttempt };
  const attempts = attemptHandlers(deps);
  const own = {
    ...previousRpcs(attempts, 'roundId'),
    createAttempts: createAttempts(deps),
    reportOutcomes: reportOutcomes(deps),
    findOpenAttempts: findOpenAttempts({ ...deps, reads: openAttempts }),
    listTournaments: listTournaments(deps),
    createTournament: createTournament(deps),
    getTournament: getTournament(deps),
    updateTournamentStatus: updateTournamentStatus(deps),
    openRound: openRound(deps),
    closeEntries: closeEntries(deps),
    closeRound: closeRound(deps),
    getLeaderboard: getLeaderboard(deps),
    listStandings: listStandings(deps),
    getReceipt: getReceipt(deps),
    audit: audit(runAudit),
  };
  const { logger } = deps;
  return [
    implement(AttemptServiceService, attempts, { logger, callers: ATTEMPT_CALLERS }),
    implement(TournamentServiceService, own, { logger, callers: CALLERS }),
  ];
}
