/**
 * ListRoundStandings: one page of a round's standings, for the program's developer. Until the round
 * is over it has only counts, because developers are insiders: they could help a player with them.
 */

import { refused } from '@laurel/errors';
import { type Handlers, parseId } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import type { TournamentServiceService } from '@laurel/proto/tournament';
import { cutPage } from '@laurel/values/cursor';
import { isTableShown, tableRows } from '../domain/leaderboard-view.ts';
import { findRank, loadStandings, type RankedStanding } from '../repository/board.ts';
import { findRound } from '../repository/rounds.ts';
import { decodeNumber, encodeNumber } from './number-cursor.ts';
import { presentRound, presentRow } from './present-round.ts';

const MAX_PAGE = 200;

export function listRoundStandings({
  database,
}: {
  database: Database;
}): Handlers<TournamentServiceService>['listRoundStandings'] {
  return async (request) => {
    const [programId, roundId] = [parseId(request.programId), parseId(request.roundId)];
    const { cursor, limit } = request;
    if (limit < 1 || limit > MAX_PAGE) throw new Error(`a page of ${limit} rows is out of bounds`);
    const afterRank = cursor === '' ? 0 : decodeNumber(cursor);
    if (afterRank === null) return refused('invalid_request', 'The cursor is not valid.');
    const found = await findRound(database, roundId);
    if (found === null || found.round.tenant.programId !== programId) return refused('not_found');

    const head = { round: presentRound(found), scoredPlayers: found.tally.scoredPlayers };
    const { status } = found.round;
    if (!isTableShown(status)) return { ...head, isWithheld: true, rows: [], nextCursor: '' };
    // One row more than requested shows whether another page follows.
    const { page, last } = cutPage(await loadAfter(database, roundId, afterRank, limit + 1), limit);
    const standings = page.map(({ standing }) => standing);
    return {
      ...head,
      isWithheld: false,
      rows: tableRows(status, standings, afterRank + 1).map(presentRow),
      nextCursor: last === null ? '' : encodeNumber(last.rank),
    };
  };
}

async function loadAfter(
  database: Database,
  roundId: string,
  rank: number,
  limit: number,
): Promise<readonly RankedStanding[]> {
  if (rank === 0) return loadStandings(database, roundId, null, limit);
  const after = await findRank(database, roundId, rank);
  return after === null ? [] : loadStandings(database, roundId, after, limit);
}
