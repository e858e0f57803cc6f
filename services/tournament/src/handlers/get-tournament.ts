/** GetTournament: one tournament with its current round, for its operator. */
import { refused } from '@laurel/errors';
import { type Handlers, parseId } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import type { TournamentServiceService } from '@laurel/proto/tournament';
import { findTournament } from '../repository/tournaments.ts';
import { presentTournament } from './present-round.ts';

export function getTournament({
  database,
}: {
  database: Database;
}): Handlers<TournamentServiceService>['getTournament'] {
  return async (request) => {
    const found = await findTournament(database, parseId(request.tournamentId));
    return found === null ? refused('not_found') : { tournament: presentTournament(found) };
  };
}
