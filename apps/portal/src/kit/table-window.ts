/**
 * Which blocks of a long table are rendered: those near the window. Pure; `useTableWindow` drives
 * it.
 */
import type { RowBlock } from './table-blocks.ts';

/**
 * The blocks from the first to the last id, and the heights of all blocks above and below these.
 */
export interface TableWindow {
  readonly first: number;
  readonly last: number;
  readonly abovePx: number;
  readonly belowPx: number;
}

export interface View {
  /** How far the top of the window is below the top of the first row; negative if it is above. */
  readonly topPx: number;
  readonly heightPx: number;
}

export interface Heights {
  /** The heights of the blocks that have been rendered. */
  readonly blocks: ReadonlyMap<number, number>;
  /** The height that is assumed for a row of any other block. */
  readonly rowPx: number;
}

/**
 * Blocks nearer to the window than this are rendered too. With a greater margin a jump takes
 * longer.
 */
const MARGIN_PX = 250;

export function windowOf(blocks: readonly RowBlock<unknown>[], view: View, heights: Heights): TableWindow {
  const from = view.topPx - MARGIN_PX;
  const to = view.topPx + view.heightPx + MARGIN_PX;
  let [top, abovePx, belowPx] = [0, 0, 0];
  let first: number | undefined;
  let last: number | undefined;
  blocks.forEach(({ id, rows }, index) => {
    const height = heights.blocks.get(id) ?? rows.length * heights.rowPx;
    const isLast = index === blocks.length - 1;
    const isNear = (top + height > from || isLast) && (top < to || first === undefined);
    if (isNear) {
      first ??= id;
      last = id;
    } else if (first === undefined) abovePx += height;
    else belowPx += height;
    top += height;
  });
  return { first: first ?? 0, last: last ?? 0, abovePx, belowPx };
}
