/**
 * ListTournamentRounds: the rounds of a tournament, newest first, for the program's developer and
 * for operators.
 */

import { refused } from '@laurel/errors';
import { type Handlers, parseId } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import type { TournamentServiceService } from '@laurel/proto/tournament';
import { cutPage } from '@laurel/values/cursor';
import { MAX_PAGE_ROWS } from '@laurel/values/limits';
import { rowsOfPage } from '../domain/page-of-purses.ts';
import { listRoundPlaces, loadRounds } from '../repository/rounds.ts';
import { findTournament, findTournamentOfProgram } from '../repository/tournaments.ts';
import { decodeNumber, encodeNumber, MAX_NUMBER } from './number-cursor.ts';
import { presentRound } from './present-round.ts';

export function listTournamentRounds({
  database,
}: {
  database: Database;
}): Handlers<TournamentServiceService>['listTournamentRounds'] {
  return async (request) => {
    const tournamentId = parseId(request.tournamentId);
    const programId = request.anyProgram ? null : parseId(request.programId);
    const { limit } = request;
    if (limit < 1 || limit > MAX_PAGE_ROWS) throw new Error(`a page of ${limit} rounds is out of bounds`);
    const below = request.cursor === '' ? MAX_NUMBER : decodeNumber(request.cursor);
    if (below === null) return refused('invalid_request', 'The cursor is not valid.');
    const found =
      programId === null
        ? await findTournament(database, tournamentId)
        : await findTournamentOfProgram(database, programId, tournamentId);
    if (found === null) return refused('not_found');

    // One round more than requested shows whether another page follows.
    const places = await listRoundPlaces(database, tournamentId, { below, limit: limit + 1 });
    const rows = rowsOfPage(
      places.map(({ ranks }) => ranks),
      limit,
    );
    const { page, last } = cutPage(places, rows);
    const loaded = await loadRounds(
      database,
      page.map(({ id }) => id),
    );
    return { rounds: loaded.map(presentRound), nextCursor: last === null ? '' : encodeNumber(last.number) };
  };
}
