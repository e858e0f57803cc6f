import type { TournamentClient } from '@laurel/attempts/client';
import { isRefused, type Refused, refused } from '@laurel/errors';
import { type ListStandingsResponse, GetLeaderboardResponse_View as View } from '@laurel/proto/tournament';
import { isUuid } from '@laurel/values/ids';
import { MAX_STANDINGS_ROWS } from '@laurel/values/limits';
import { presentLeaderboardRow, presentMaskedLeaderboard, presentRound } from '../../presenters/tournament.ts';
import { defineV1Route } from './route.ts';
import { getLeaderboardQuery, leaderboardSchema } from './tournament-schemas.ts';

const FROM_THE_TOP = Buffer.alloc(0);

export const getLeaderboard = defineV1Route({
  method: 'get',
  path: '/tournaments/rounds/{round_id}/leaderboard',
  name: 'getLeaderboard',
  summary: 'Read the leaderboard of a round',
  description:
    "The board is masked (`locked`, no `data`) unless `player_ref` names a player who paid for an attempt in this round. While the round runs, `data` is that player's row and one on either side, empty before their first score; once it is `settled` or `cancelled`, `data` is the complete final table. Rows are ordered by better score, then better tiebreak (null is worse than any), then earlier `best_score_at`.",
  query: getLeaderboardQuery,
  success: { status: 200, description: 'The full or the masked board.', schema: leaderboardSchema },
  refusals: {
    invalid_request: 'The query names a parameter twice, or is not percent-encoded UTF-8.',
    not_found: 'There is no such round, or it belongs to another program. The response is never a masked board.',
  },
  run: async ({ caller, params, query, options }, { tournament }: { tournament: TournamentClient }) => {
    const roundId = params.round_id ?? '';
    if (!isUuid(roundId)) return refused('not_found');
    const round = { tenant: caller.tenant, roundId };
    const reading = { ...options, retryLostReply: true };
    const board = await tournament.getLeaderboard({ ...round, playerRef: query.player_ref }, reading);
    if (isRefused(board)) return board;
    if (board.round === undefined) throw new Error('the tournament service left out the round');
    const head = { round: presentRound(board.round), scored_players: board.scoredPlayers };
    switch (board.view) {
      case View.MASKED:
        return JSON.stringify(presentMaskedLeaderboard(board.round, board.scoredPlayers));
      case View.WINDOW:
        return JSON.stringify({
          ...head,
          data: board.rows.map((row) => presentLeaderboardRow(row, board.playerEntryId)),
        });
      case View.COMPLETE: {
        // A table may have a million rows. Only one page is in memory at a time: some 500 KB of the
        // response.
        const readPage = (cursor: Buffer) =>
          tournament.listStandings({ ...round, cursor, limit: MAX_STANDINGS_ROWS }, reading);
        // The first page is read before the response begins, so that its failure can still be
        // answered as an error. Most rounds have only this page.
        const first = await readPage(FROM_THE_TOP);
        return isRefused(first) ? first : completeTable(head, first, { readPage, playerEntryId: board.playerEntryId });
      }
      default:
        throw new Error(`the tournament service sent an unknown view: ${board.view}`);
    }
  },
});

/** The body of a complete board in pieces, one for each page of its table. */
async function* completeTable(
  head: object,
  first: ListStandingsResponse,
  {
    readPage,
    playerEntryId,
  }: {
    readonly readPage: (cursor: Buffer) => Promise<ListStandingsResponse | Refused>;
    readonly playerEntryId: string;
  },
): AsyncGenerator<string> {
  yield `${JSON.stringify(head).slice(0, -1)},"data":[${rowsOf(first, playerEntryId)}`;
  let { nextCursor } = first;
  while (nextCursor.length > 0) {
    const page = await readPage(nextCursor);
    if (isRefused(page)) throw new Error(`the rest of a table was refused: ${page.code}`);
    if (page.rows.length > 0) yield `,${rowsOf(page, playerEntryId)}`;
    ({ nextCursor } = page);
  }
  yield ']}';
}

function rowsOf(page: ListStandingsResponse, playerEntryId: string): string {
  return page.rows.map((row) => JSON.stringify(presentLeaderboardRow(row, playerEntryId))).join();
}
