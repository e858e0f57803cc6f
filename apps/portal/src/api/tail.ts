/** The rows of a live list, without clock and network: `useLiveTail` drives it. */

export interface Tail<T> {
  /** The rows are newest first. */
  readonly rows: readonly T[];
  /** Rows that have arrived and are not shown yet, newest first. */
  readonly waiting: readonly T[];
  /** More rows have arrived than a page keeps: only a reload shows them. */
  readonly isOverfull: boolean;
  /**
   * How many rows older than the newest shown row began to match the filters later. A reload shows
   * them in their place.
   */
  readonly late: number;
  readonly headCursor: string | null;
  readonly nextCursor: string | null;
}

export interface TailPage<T> {
  readonly data: readonly T[];
  readonly next_cursor: string | null;
  /** Null on a page of older rows. */
  readonly head_cursor: string | null;
}

export type KeyOf<T> = (row: T) => string;

/** A page in the background stops collecting rows at this number. */
export const MAX_WAITING_ROWS = 1_000;

export function beginTail<T>(page: TailPage<T>): Tail<T> {
  const { data, head_cursor: headCursor, next_cursor: nextCursor } = page;
  return { rows: data, waiting: [], isOverfull: false, late: 0, headCursor, nextCursor };
}

/**
 * Takes in a page of newer rows, which is oldest first. An empty list shows them at once. A page
 * that brings nothing leaves the tail the same object, so that nothing is rendered again.
 */
export function takeNewer<T>(tail: Tail<T>, page: TailPage<T>, keyOf: KeyOf<T>): Tail<T> {
  const headCursor = page.head_cursor ?? tail.headCursor;
  const newer = unknownOf(page.data, tail, keyOf).toReversed();
  if (newer.length === 0) return headCursor === tail.headCursor ? tail : { ...tail, headCursor };
  const waiting = [...newer, ...tail.waiting];
  const next = { ...tail, headCursor, waiting, isOverfull: waiting.length > MAX_WAITING_ROWS };
  return tail.rows.length === 0 ? showWaiting(next) : next;
}

export function showWaiting<T>(tail: Tail<T>): Tail<T> {
  return { ...tail, rows: [...tail.waiting, ...tail.rows], waiting: [], isOverfull: false };
}

export function takeOlder<T>(tail: Tail<T>, page: TailPage<T>, keyOf: KeyOf<T>): Tail<T> {
  const older = unknownOf(page.data, tail, keyOf);
  const rows = older.length === 0 ? tail.rows : [...tail.rows, ...older];
  return { ...tail, rows, nextCursor: page.next_cursor };
}

/**
 * Takes in the newest page, read again. `takeNewer` has taken in the newer rows before, so no row
 * of the page is new. A known row keeps its place. An empty list shows the page at once.
 */
export function takePresent<T>(tail: Tail<T>, page: TailPage<T>, keyOf: KeyOf<T>): Tail<T> {
  const changed = takeChanged(tail, page.data, keyOf);
  if (tail.rows.length === 0 && page.data.length > 0) return { ...changed, rows: page.data, waiting: [] };
  const late = lateOf(tail, page.data, keyOf);
  return late === tail.late ? changed : { ...changed, late };
}

/**
 * Counts unknown rows between known ones. Unknown rows below the last known one may just not be
 * loaded yet.
 */
function lateOf<T>(tail: Tail<T>, present: readonly T[], keyOf: KeyOf<T>): number {
  const unknown = new Set(unknownOf(present, tail, keyOf));
  if (tail.nextCursor === null) return unknown.size;
  const lastKnown = present.findLastIndex((row) => !unknown.has(row));
  return present.slice(0, lastKnown + 1).filter((row) => unknown.has(row)).length;
}

interface Doubt<T> {
  readonly keyOf: KeyOf<T>;
  /** Whether a row can no longer change. */
  readonly isFinal: (row: T) => boolean;
  /**
   * The number of this refresh. Each refresh continues with the rows that the one before had no
   * room for.
   */
  readonly turn: number;
  readonly limit: number;
}

/**
 * The rows that may have changed, but that the newest page does not contain: each has to be fetched
 * alone. Rows between two rows of the page come first, because they no longer match the filters.
 */
export function rowsInDoubt<T>(rows: readonly T[], present: readonly T[], doubt: Doubt<T>): readonly T[] {
  const { keyOf, isFinal, turn, limit } = doubt;
  const keys = new Set(present.map(keyOf));
  const doubtful: T[] = [];
  let between = 0;
  for (const row of rows) {
    if (keys.has(keyOf(row))) between = doubtful.length;
    else if (!isFinal(row)) doubtful.push(row);
  }
  const first = inTurn(doubtful.slice(0, between), turn * limit);
  return [...first, ...inTurn(doubtful.slice(between), turn * limit)].slice(0, limit);
}

function inTurn<T>(rows: readonly T[], steps: number): readonly T[] {
  const from = rows.length === 0 ? 0 : steps % rows.length;
  return [...rows.slice(from), ...rows.slice(0, from)];
}

/** Takes in rows in their current state. A known row keeps its place; unknown rows are left out. */
export function takeChanged<T>(tail: Tail<T>, current: readonly T[], keyOf: KeyOf<T>): Tail<T> {
  const byKey = new Map(current.map((row) => [keyOf(row), row]));
  const rows = changedRows(tail.rows, byKey, keyOf);
  const waiting = changedRows(tail.waiting, byKey, keyOf);
  return rows === tail.rows && waiting === tail.waiting ? tail : { ...tail, rows, waiting };
}

/** Keeps the array if no row differs, and the object of each row that does not differ. */
function changedRows<T>(rows: readonly T[], byKey: ReadonlyMap<string, T>, keyOf: KeyOf<T>): readonly T[] {
  let changed: T[] | undefined;
  rows.forEach((row, index) => {
    const now = byKey.get(keyOf(row));
    if (now === undefined || JSON.stringify(now) === JSON.stringify(row)) return;
    changed ??= [...rows];
    changed[index] = now;
  });
  return changed ?? rows;
}

/** Returns the rows that the tail lacks, without a set of its rows, which may be very many. */
function unknownOf<T>(data: readonly T[], tail: Tail<T>, keyOf: KeyOf<T>): readonly T[] {
  if (data.length === 0) return data;
  const arriving = new Map(data.map((row) => [keyOf(row), row]));
  for (const known of [tail.waiting, tail.rows]) {
    for (const row of known) {
      arriving.delete(keyOf(row));
      if (arriving.size === 0) return [];
    }
  }
  return [...arriving.values()];
}
