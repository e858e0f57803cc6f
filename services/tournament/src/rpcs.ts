/** Each rpc of the tournament service, with its handler and what the handlers need. */
import type {
  AccountCache,
  AttemptExpirer,
  AttemptOpener,
  AwardPayer,
  AwardTable,
  CandidateReads,
  OwnerFoundation,
  PendingResolver,
} from '@laurel/attempts';
import { implement, type ServiceImplementation } from '@laurel/grpc';
import { TournamentServiceService } from '@laurel/proto/tournament';
import { CALLERS } from './callers.ts';
import { audit, type RunAudit } from './handlers/audit.ts';
import { closeEntries } from './handlers/close-entries.ts';
import { closeRound } from './handlers/close-round.ts';
import { createAttempts } from './handlers/create-attempts.ts';
import { createTournament } from './handlers/create-tournament.ts';
import { denyAward } from './handlers/deny-award.ts';
import { expireAttempt } from './handlers/expire-attempt.ts';
import { findOpenAttempts } from './handlers/find-open-attempts.ts';
import { getAttempt } from './handlers/get-attempt.ts';
import { getLeaderboard } from './handlers/get-leaderboard.ts';
import { getReceipt } from './handlers/get-receipt.ts';
import { getTournament } from './handlers/get-tournament.ts';
import { inspectAttempt } from './handlers/inspect-attempt.ts';
import { listSigningKeys } from './handlers/list-signing-keys.ts';
import { listStandings } from './handlers/list-standings.ts';
import { listTournaments } from './handlers/list-tournaments.ts';
import { openRound } from './handlers/open-round.ts';
import { releaseAward } from './handlers/release-award.ts';
import { reportOutcomes } from './handlers/report-outcomes.ts';
import type { AttemptReservations } from './handlers/reserve-attempts.ts';
import type { OutcomeSettlements } from './handlers/settle-outcomes.ts';
import { updateTournamentStatus } from './handlers/update-tournament-status.ts';
import { voidAttempt } from './handlers/void-attempt.ts';
import { findAttempt } from './repository/attempts.ts';
import type { RoundAward } from './repository/payouts.ts';
import type { RoundEnd } from './repository/rounds.ts';
import type { RoundCloser } from './workers/close-rounds.ts';
import type { RoundSettler } from './workers/settle-rounds.ts';

type Deps = Pick<OwnerFoundation<'tournament'>, 'database' | 'wallet' | 'clock' | 'logger'> & {
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

export function tournamentRpcs({ openAttempts, runAudit, ...rest }: Deps): ServiceImplementation {
  const { database } = rest;
  const deps = { ...rest, loadAttempt: async (id: string) => (await findAttempt(database, id))?.attempt ?? null };
  return implement(
    TournamentServiceService,
    {
      createAttempts: createAttempts(deps),
      reportOutcomes: reportOutcomes(deps),
      findOpenAttempts: findOpenAttempts({ ...deps, reads: openAttempts }),
      getAttempt: getAttempt(deps),
      inspectAttempt: inspectAttempt(deps),
      voidAttempt: voidAttempt(deps),
      expireAttempt: expireAttempt(deps),
      releaseAward: releaseAward(deps),
      denyAward: denyAward(deps),
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
      listSigningKeys: listSigningKeys(deps),
      audit: audit(runAudit),
    },
    { logger: deps.logger, callers: CALLERS },
  );
}
