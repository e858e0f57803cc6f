/**
 * UpdateTournamentStatus: an operator activates, pauses or closes a tournament. One that becomes
 * active again opens its next round in the same commit.
 */
import { isRefused, refused } from '@laurel/errors';
import { type Handlers, parseId } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import { nameOf, TOURNAMENT_STATUSES } from '@laurel/proto/enum-names';
import type { TournamentServiceService } from '@laurel/proto/tournament';
import type { Clock } from '@laurel/service';
import { decideStatusChange } from '../domain/tournament-status.ts';
import { findTournament, lockTournament, updateTournamentStatus as updateStatus } from '../repository/tournaments.ts';
import { openNextRound } from '../workers/open-rounds.ts';
import { presentTournament } from './present-round.ts';

export function updateTournamentStatus({
  database,
  clock,
}: {
  database: Database;
  clock: Clock;
}): Handlers<TournamentServiceService>['updateTournamentStatus'] {
  return async (request) => {
    const id = parseId(request.tournamentId);
    const wanted = nameOf(TOURNAMENT_STATUSES, request.status);

    const changed = await database.transaction(async (tx) => {
      const tournament = await lockTournament(tx, id);
      if (tournament === null) return refused('not_found');
      const change = decideStatusChange(tournament.status, wanted);
      if (isRefused(change)) return change;
      await updateStatus(tx, id, change.status);
      await openNextRound(tx, { ...tournament, status: change.status }, clock());
      return findTournament(tx, id);
    });
    if (isRefused(changed)) return changed;
    return changed === null ? refused('not_found') : { tournament: presentTournament(changed) };
  };
}
