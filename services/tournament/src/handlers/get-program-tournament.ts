/**
 * GetProgramTournament: one tournament of a program with its current round, for the program's
 * developer.
 */
import { refused } from '@laurel/errors';
import { type Handlers, parseId } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import type { TournamentServiceService } from '@laurel/proto/tournament';
import { findTournamentOfProgram } from '../repository/tournaments.ts';
import { presentTournament } from './present-round.ts';

export function getProgramTournament({
  database,
}: {
  database: Database;
}): Handlers<TournamentServiceService>['getProgramTournament'] {
  return async (request) => {
    const programId = parseId(request.programId);
    const found = await findTournamentOfProgram(database, programId, parseId(request.tournamentId));
    return found === null ? refused('not_found') : { tournament: presentTournament(found) };
  };
}
