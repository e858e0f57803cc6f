/**
 * ListStandings: one page of the complete table of a round that is over. A running round has no
 * pages.
 */

import { isSameTenant } from '@laurel/attempts/domain';
import { refused } from '@laurel/errors';
import { type Handlers, parseId, parseTenant } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import type { TournamentServiceService } from '@laurel/proto/tournament';
import { MAX_STANDINGS_ROWS } from '@laurel/values/limits';
import { SORT_KEY_BYTES } from '../domain/board-sort-key.ts';
import { isTableShown, tableRows } from '../domain/leaderboard-view.ts';
import { type BoardCursor, loadStandings } from '../repository/board.ts';
import { findRound } from '../repository/rounds.ts';
import { presentLeaderboardRow } from './present-round.ts';

const NO_CURSOR = Buffer.alloc(0);
const RANK_BYTES = 4;

export function listStandings({
  database,
}: {
  database: Database;
}): Handlers<TournamentServiceService>['listStandings'] {
  return async (request) => {
    const tenant = parseTenant(request.tenant);
    const roundId = parseId(request.roundId);
    const after = parseCursor(request.cursor);
    const { limit } = request;
    if (limit < 1 || limit > MAX_STANDINGS_ROWS) throw new Error(`a page of ${limit} rows is out of bounds`);
    const found = await findRound(database, roundId);
    if (found === null || !isSameTenant(found.round.tenant, tenant)) return refused('not_found');
    const { status } = found.round;
    if (!isTableShown(status)) return refused('not_found');

    const page = await loadStandings(database, roundId, after, limit);
    const standings = page.map(({ standing }) => standing);
    const last = page.length < limit ? undefined : page.at(-1);
    return {
      rows: tableRows(status, standings, (after?.rank ?? 0) + 1).map(presentLeaderboardRow),
      nextCursor: last === undefined ? NO_CURSOR : presentCursor(last.cursor),
    };
  };
}

/** A cursor is the sort key and the rank of the last row. Null means the first page. */
function parseCursor(cursor: Buffer): BoardCursor | null {
  if (cursor.length === 0) return null;
  if (cursor.length !== SORT_KEY_BYTES + RANK_BYTES) throw new Error('the cursor is malformed');
  return { sortKey: cursor.subarray(0, SORT_KEY_BYTES), rank: cursor.readUInt32BE(SORT_KEY_BYTES) };
}

function presentCursor({ sortKey, rank }: BoardCursor): Buffer {
  const cursor = Buffer.alloc(SORT_KEY_BYTES + RANK_BYTES);
  cursor.set(sortKey);
  cursor.writeUInt32BE(rank, SORT_KEY_BYTES);
  return cursor;
}
