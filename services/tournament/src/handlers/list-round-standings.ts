/**
 * ListRoundStandings: one page of a round's standings, for the program's developer. Until the round
 * is over it has only counts, because developers are insiders: they could help a player with the
 * standings.
 */

import { isRefused, refused } from '@laurel/errors';
import { type Handlers, parseId } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import type { TournamentServiceService } from '@laurel/proto/tournament';
import { isTableShown, tableRows } from '../domain/leaderboard-view.ts';
import { findRound } from '../repository/rounds.ts';
import { presentLeaderboardRow, presentRound } from './present-round.ts';
import { parsePageOfRanks, readStandings } from './read-standings.ts';

export function listRoundStandings({
  database,
}: {
  database: Database;
}): Handlers<TournamentServiceService>['listRoundStandings'] {
  return async (request) => {
    const [programId, roundId] = [parseId(request.programId), parseId(request.roundId)];
    const page = parsePageOfRanks(request);
    if (isRefused(page)) return page;
    const found = await findRound(database, roundId);
    if (found === null || found.round.tenant.programId !== programId) return refused('not_found');

    const head = { round: presentRound(found), scoredPlayers: found.tally.scoredPlayers };
    const { status } = found.round;
    if (!isTableShown(status)) return { ...head, isWithheld: true, rows: [], nextCursor: '' };
    const { standings, nextCursor } = await readStandings(database, roundId, page);
    return {
      ...head,
      isWithheld: false,
      rows: tableRows(status, standings, page.afterRank + 1).map(presentLeaderboardRow),
      nextCursor,
    };
  };
}
