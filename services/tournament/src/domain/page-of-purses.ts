/**
 * How many rows fit on a page of a list whose rows show their purses. A purse has thousands of
 * ranks at most, so a page of as many rows as a caller may ask for would not fit in a message.
 */

/** The most ranks on a page: about a megabyte of the response. */
const MAX_RANKS = 20_000;

/**
 * How many rows fit, given the number of ranks of each row's purse in the order of the list. The
 * first row always fits.
 */
export function rowsOfPage(ranks: readonly number[], limit: number): number {
  let rows = 0;
  let shown = 0;
  for (const more of ranks.slice(0, limit)) {
    shown += more;
    if (rows > 0 && shown > MAX_RANKS) break;
    rows += 1;
  }
  return rows;
}
