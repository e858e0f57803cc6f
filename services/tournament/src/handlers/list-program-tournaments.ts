/**
 * ListProgramTournaments: the tournaments of a tenant with their current rounds, newest first, for
 * the program's developer and for operators.
 */

import { refused } from '@laurel/errors';
import { type Handlers, parseTenant } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import { findName, TOURNAMENT_STATUSES } from '@laurel/proto/enum-names';
import type { TournamentServiceService } from '@laurel/proto/tournament';
import { cutPage, decodePosition, encodePosition, TOP } from '@laurel/values/cursor';
import { MAX_PAGE_ROWS } from '@laurel/values/limits';
import { rowsOfPage } from '../domain/page-of-purses.ts';
import { listTournamentPlaces, loadTournaments } from '../repository/tournaments.ts';
import { presentTournament } from './present-round.ts';

export function listProgramTournaments({
  database,
}: {
  database: Database;
}): Handlers<TournamentServiceService>['listProgramTournaments'] {
  return async (request) => {
    const tenant = parseTenant(request.tenant);
    const status = findName(TOURNAMENT_STATUSES, request.status) ?? null;
    const { limit } = request;
    if (limit < 1 || limit > MAX_PAGE_ROWS) throw new Error(`a page of ${limit} tournaments is out of bounds`);
    const after = request.cursor === '' ? TOP : decodePosition(request.cursor);
    if (after === null) return refused('invalid_request', 'The cursor is not valid.');

    // One tournament more than requested shows whether another page follows.
    const places = await listTournamentPlaces(database, tenant, { after, status, limit: limit + 1 });
    const rows = rowsOfPage(
      places.map(({ ranks }) => ranks),
      limit,
    );
    const { page, last } = cutPage(places, rows);
    const found = await loadTournaments(
      database,
      page.map(({ id }) => id),
    );
    return { tournaments: found.map(presentTournament), nextCursor: last === null ? '' : encodePosition(last) };
  };
}
