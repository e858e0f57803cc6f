/**
 * InspectStandings: one page of a round's standings with their accounts and awards, or the standing
 * of one account, for operators. One snapshot reads the page, so that its ranks are consistent
 * while the round runs. Scores that are recorded between two pages move rows, so a row may then
 * come twice, or not at all.
 */

import { isRefused, refused } from '@laurel/errors';
import { type Handlers, parseId } from '@laurel/grpc';
import type { Database, Queryable } from '@laurel/postgres';
import type { TournamentServiceService } from '@laurel/proto/tournament';
import { inspectedStandings } from '../domain/inspected-standings.ts';
import type { Standing } from '../domain/tournament.ts';
import { loadWindow } from '../repository/board.ts';
import { findEntryOfAccount } from '../repository/entries.ts';
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
    const accountId = request.accountId === undefined ? null : parseId(request.accountId);
    return await database.transaction(
      async (tx) => {
        const found = await findRound(tx, roundId);
        if (found === null) return refused('not_found');
        const { standings, nextCursor, firstRank } =
          accountId === null
            ? { ...(await readStandings(tx, roundId, page)), firstRank: page.afterRank + 1 }
            : await readOwn(tx, roundId, accountId);
        const rows = inspectedStandings(found.round, standings, firstRank);
        return {
          round: presentRound(found),
          scoredPlayers: found.tally.scoredPlayers,
          rows: rows.map(({ row, awardId, ...standing }) => ({
            ...standing,
            row: presentLeaderboardRow(row),
            awardId: awardId ?? '',
          })),
          nextCursor,
        };
      },
      { isSnapshot: true },
    );
  };
}

/** The account's standing; none if it has no score in the round. */
async function readOwn(
  on: Queryable,
  roundId: string,
  accountId: string,
): Promise<{ readonly standings: readonly Standing[]; readonly nextCursor: string; readonly firstRank: number }> {
  const entry = await findEntryOfAccount(on, roundId, accountId);
  const window = entry === null ? null : await loadWindow(on, roundId, entry.id);
  return { standings: window === null ? [] : [window.own], nextCursor: '', firstRank: window?.ownRank ?? 1 };
}
