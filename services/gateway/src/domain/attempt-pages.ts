/**
 * Merges the pages of two contest services into one list of attempts, in the order of creation and
 * id. Each page states how far its service has read the list. The merged page ends at the nearer of
 * these two positions, because beyond it the other page may lack attempts.
 */
import type { Position } from '@laurel/values/cursor';
import { isBefore as isEarlier, millisecondsBetween } from '@laurel/values/instant';

export type ListOrder = 'newest_first' | 'oldest_first';

export type PageOfContest<Row> = {
  readonly rows: readonly (Row & Position)[];
  /** Null once the list has ended. */
  readonly readTo: Position | null;
  /** Null unless the list begins at the head. */
  readonly head: Position | null;
};

export type MergedPage<Row> = {
  readonly rows: readonly Row[];
  /** Where the next page begins; null once the list has ended. */
  readonly next: Position | null;
  readonly head: Position | null;
};

export function mergePages<Row>(
  order: ListOrder,
  pages: readonly PageOfContest<Row>[],
  limit: number,
): MergedPage<Row & Position> {
  const isBeyond = (one: Position, other: Position) =>
    order === 'oldest_first' ? isAbove(one, other) : isAbove(other, one);
  // Attempts above the lower of the two heads are left out: the list that follows new attempts has
  // them.
  const head = firstBy(
    (one, other) => isAbove(other, one),
    pages.map((page) => page.head),
  );
  const readTo = firstBy(
    (one, other) => isBeyond(other, one),
    pages.map((page) => page.readTo),
  );
  const end = readTo !== null && head !== null && isAbove(readTo, head) ? head : readTo;
  const rows = pages
    .flatMap((page) => page.rows)
    .filter((row) => (readTo === null || !isBeyond(row, readTo)) && (head === null || !isAbove(row, head)))
    .sort((one, other) => (isBeyond(one, other) ? 1 : -1));
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  const isCut = rows.length > limit && last !== undefined;
  return { rows: page, next: isCut ? { at: last.at, id: last.id } : end, head };
}

function isAbove(one: Position, other: Position): boolean {
  if (isEarlier(other.at, one.at)) return true;
  return millisecondsBetween(one.at, other.at) === 0 && one.id > other.id;
}

/** The position that comes first by this order; null if all positions are null. */
function firstBy(
  isBefore: (one: Position, other: Position) => boolean,
  positions: readonly (Position | null)[],
): Position | null {
  return positions.reduce((found, it) => (found === null || (it !== null && isBefore(it, found)) ? it : found), null);
}
