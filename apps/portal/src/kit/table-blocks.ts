/**
 * The rows of a table in blocks. A block keeps its id while rows are added at both ends, and stays
 * the same object while its rows do, so that only what has changed is rendered again.
 */

export interface RowBlock<T> {
  readonly id: number;
  readonly rows: readonly T[];
}

export const BLOCK_ROWS = 10;

/**
 * Puts rows into blocks. Rows that do not continue the previous rows, such as the rows of another
 * filter, get new blocks.
 */
export function blocksOf<T>(
  before: readonly RowBlock<T>[],
  rows: readonly T[],
  keyOf: (row: T) => string,
): readonly RowBlock<T>[] {
  const first = before[0]?.rows[0];
  const start = first === undefined ? -1 : indexOfKey(rows, keyOf(first), keyOf);
  const kept = start < 0 ? null : keepBlocks(before, rows, start, keyOf);
  if (kept === null) return append([], rows);
  return prepend(append(kept.blocks, rows.slice(kept.end)), rows.slice(0, start));
}

/** Returns the blocks with unchanged rows, or null if a row has gone or has moved. */
function keepBlocks<T>(
  before: readonly RowBlock<T>[],
  rows: readonly T[],
  start: number,
  keyOf: (row: T) => string,
): { readonly blocks: readonly RowBlock<T>[]; readonly end: number } | null {
  const blocks: RowBlock<T>[] = [];
  let end = start;
  for (const block of before) {
    let isSame = true;
    for (const [index, old] of block.rows.entries()) {
      const row = rows[end + index];
      if (row === old) continue;
      if (row === undefined || keyOf(row) !== keyOf(old)) return null;
      isSame = false;
    }
    const next = end + block.rows.length;
    blocks.push(isSame ? block : { id: block.id, rows: rows.slice(end, next) });
    end = next;
  }
  return { blocks, end };
}

function indexOfKey<T>(rows: readonly T[], key: string, keyOf: (row: T) => string): number {
  return rows.findIndex((row) => keyOf(row) === key);
}

function append<T>(blocks: readonly RowBlock<T>[], rows: readonly T[]): readonly RowBlock<T>[] {
  if (rows.length === 0) return blocks;
  const all = [...blocks];
  const last = all.at(-1);
  const room = last === undefined ? 0 : BLOCK_ROWS - last.rows.length;
  if (last !== undefined && room > 0)
    all[all.length - 1] = { id: last.id, rows: [...last.rows, ...rows.slice(0, room)] };
  let id = (last?.id ?? -1) + 1;
  for (let from = Math.max(0, room); from < rows.length; from += BLOCK_ROWS) {
    all.push({ id, rows: rows.slice(from, from + BLOCK_ROWS) });
    id += 1;
  }
  return all;
}

/** Adds rows at the top. Only the top block may be partly full. */
function prepend<T>(blocks: readonly RowBlock<T>[], rows: readonly T[]): readonly RowBlock<T>[] {
  const [first, ...others] = blocks;
  if (rows.length === 0 || first === undefined) return blocks;
  const room = Math.max(0, BLOCK_ROWS - first.rows.length);
  let end = Math.max(0, rows.length - room);
  const filled = end < rows.length ? { id: first.id, rows: [...rows.slice(end), ...first.rows] } : first;
  const added: RowBlock<T>[] = [];
  for (let id = first.id - 1; end > 0; id -= 1) {
    const from = Math.max(0, end - BLOCK_ROWS);
    added.push({ id, rows: rows.slice(from, end) });
    end = from;
  }
  return [...added.toReversed(), filled, ...others];
}
