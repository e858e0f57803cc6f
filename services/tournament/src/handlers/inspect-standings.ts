/**
 * InspectStandings: one page of a round's standings with their accounts and awards, for operators.
 * One snapshot reads the page, so that its ranks hold together while the round runs. Scores that
 * are recorded between two pages move rows, so a row may then come twice, or not at all.
 */

import { isRefused, refused } from '@laurel/errors';
import { type Handlers, parseId } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import type { TournamentServiceService } from '@laurel/proto/tournament';
import { inspectedStandings } from '../domain/inspected-standings.ts';
import { findRound } from '../repository/rounds.ts';
import { presentLeaderboardRow, presentRound } from './present-round.ts';
import { parsePageOfRanks, readStandings } from './read-standings.ts';

export function inspectStandings({
  database,
}: {
  database: Database;
}): Handlers<TournamentServiceService>['inspectStandings'] {
  return async (request) => {
    const roundId = parseId(request.roundId);
    const page = parsePageOfRanks(request);
    if (isRefused(page)) return page;
    return await database.transaction(
      async (tx) => {
        const found = await findRound(tx, roundId);
        if (found === null) return refused('not_found');
        const { standings, nextCursor } = await readStandings(tx, roundId, page);
        const rows = inspectedStandings(found.round, standings, page.afterRank + 1);
        return {
          round: presentRound(found),
          scoredPlayers: found.tally.scoredPlayers,
          rows: rows.map(({ row, accountId, awardId }) => ({
            row: presentLeaderboardRow(row),
            accountId,
            awardId: awardId ?? '',
          })),
          nextCursor,
        };
      },
      { isSnapshot: true },
    );
  };
}
