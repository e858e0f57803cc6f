/**
 * Reads one page of a round's board, which begins after a rank, for developers and for operators.
 */
import { type Refused, refused } from '@laurel/errors';
import type { Queryable } from '@laurel/postgres';
import { cutPage } from '@laurel/values/cursor';
import { MAX_PAGE_ROWS } from '@laurel/values/limits';
import type { Standing } from '../domain/tournament.ts';
import { findCursorAtRank, loadStandings, type RankedStanding } from '../repository/board.ts';
import { decodeNumber, encodeNumber } from './number-cursor.ts';

/**
 * A page that begins after the rank `afterRank`, 0 for the first page, with at most `limit` rows.
 */
type PageOfRanks = { readonly afterRank: number; readonly limit: number };

/** The requested page of ranks. Refuses: invalid_request. */
export function parsePageOfRanks(request: { readonly cursor: string; readonly limit: number }): PageOfRanks | Refused {
  const { cursor, limit } = request;
  if (limit < 1 || limit > MAX_PAGE_ROWS) throw new Error(`a page of ${limit} rows is out of bounds`);
  const afterRank = cursor === '' ? 0 : decodeNumber(cursor);
  return afterRank === null ? refused('invalid_request', 'The cursor is not valid.') : { afterRank, limit };
}

/** Reads the rows of the page. While the round runs, `on` must be a snapshot. */
export async function readStandings(
  on: Queryable,
  roundId: string,
  { afterRank, limit }: PageOfRanks,
): Promise<{ readonly standings: readonly Standing[]; readonly nextCursor: string }> {
  // One row more than requested shows whether another page follows.
  const { page, last } = cutPage(await loadAfter(on, roundId, afterRank, limit + 1), limit);
  return {
    standings: page.map(({ standing }) => standing),
    nextCursor: last === null ? '' : encodeNumber(last.rank),
  };
}

async function loadAfter(
  on: Queryable,
  roundId: string,
  rank: number,
  limit: number,
): Promise<readonly RankedStanding[]> {
  if (rank === 0) return loadStandings(on, roundId, null, limit);
  const after = await findCursorAtRank(on, roundId, rank);
  return after === null ? [] : loadStandings(on, roundId, after, limit);
}
