/** The rows of a live list, without clock and network: `useLiveTail` drives it. */

export interface Tail<T> {
  /** Newest first. */
  readonly rows: readonly T[];
  /** Rows that have arrived and are not shown yet, newest first. */
  readonly waiting: readonly T[];
  /** More have arrived than a page keeps: only a reload shows them. */
  readonly isOverfull: boolean;
  readonly headCursor: string;
  readonly nextCursor: string | null;
}

export interface TailPage<T> {
  readonly data: readonly T[];
  readonly next_cursor: string | null;
  readonly head_cursor: string;
}

export type KeyOf<T> = (row: T) => string;

/** A page that nobody looks at stops to collect rows at this number. */
export const MAX_WAITING = 1_000;

export function beginTail<T>(page: TailPage<T>): Tail<T> {
  const { data, head_cursor: headCursor, next_cursor: nextCursor } = page;
  return { rows: data, waiting: [], isOverfull: false, headCursor, nextCursor };
}

/** Takes in a page of newer rows, which is oldest first. An empty list shows them at once. */
export function takeNewer<T>(tail: Tail<T>, page: TailPage<T>, keyOf: KeyOf<T>): Tail<T> {
  const known = new Set([...tail.rows, ...tail.waiting].map(keyOf));
  const newer = page.data.filter((row) => !known.has(keyOf(row))).toReversed();
  const waiting = [...newer, ...tail.waiting];
  const next = { ...tail, headCursor: page.head_cursor, waiting, isOverfull: waiting.length > MAX_WAITING };
  return tail.rows.length === 0 ? showWaiting(next) : next;
}

export function showWaiting<T>(tail: Tail<T>): Tail<T> {
  return { ...tail, rows: [...tail.waiting, ...tail.rows], waiting: [] };
}

export function takeOlder<T>(tail: Tail<T>, page: TailPage<T>, keyOf: KeyOf<T>): Tail<T> {
  const known = new Set(tail.rows.map(keyOf));
  const older = page.data.filter((row) => !known.has(keyOf(row)));
  return { ...tail, rows: [...tail.rows, ...older], nextCursor: page.next_cursor };
}
