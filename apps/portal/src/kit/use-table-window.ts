/** Follows the scrolling of the page, and says which blocks of a long table are to be rendered. */
import { type RefObject, useLayoutEffect, useRef, useState } from 'react';
import type { RowBlock } from './table-blocks.ts';
import { type TableWindow, windowOf } from './table-window.ts';

/** The height of a row until a block of the table has been rendered. */
const ASSUMED_ROW_PX = 41;

interface MeasuredHeights {
  readonly blocks: Map<number, number>;
  rowPx: number | undefined;
}

/**
 * Returns the window, or undefined for a table that is rendered as a whole. Each `tbody` of a block
 * has its `data-block`.
 */
export function useTableWindow(
  table: RefObject<HTMLTableElement | null>,
  blocks: readonly RowBlock<unknown>[],
  isLong: boolean,
): TableWindow | undefined {
  const heights = useRef<MeasuredHeights>({ blocks: new Map(), rowPx: undefined });
  const [current, setCurrent] = useState<TableWindow>();
  useLayoutEffect(() => {
    if (!isLong) return setCurrent(undefined);
    const update = () => {
      if (table.current === null) return;
      measure(table.current, heights.current);
      const topPx = -table.current.getBoundingClientRect().top - (table.current.tHead?.offsetHeight ?? 0);
      const { blocks: known, rowPx = ASSUMED_ROW_PX } = heights.current;
      const next = windowOf(blocks, { topPx, heightPx: window.innerHeight }, { blocks: known, rowPx });
      setCurrent((before) => (before !== undefined && isSame(before, next) ? before : next));
    };
    update();
    let frame = 0;
    const schedule = () => {
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(update);
    };
    const forget = () => {
      heights.current = { blocks: new Map(), rowPx: undefined };
      schedule();
    };
    document.addEventListener('scroll', schedule, { passive: true });
    window.addEventListener('resize', forget);
    return () => {
      cancelAnimationFrame(frame);
      document.removeEventListener('scroll', schedule);
      window.removeEventListener('resize', forget);
    };
  }, [table, blocks, isLong]);
  return isLong ? (current ?? firstOf(blocks)) : undefined;
}

function firstOf(blocks: readonly RowBlock<unknown>[]): TableWindow {
  const id = blocks[0]?.id ?? 0;
  return { first: id, last: id, abovePx: 0, belowPx: 0 };
}

/**
 * Keeps the height of each rendered block. The rows of the first one set the height assumed for all
 * other rows; it never changes, because rows would jump.
 */
function measure(table: HTMLTableElement, heights: MeasuredHeights): void {
  for (const body of table.tBodies) {
    const id = Number(body.dataset.block ?? 'none');
    if (Number.isNaN(id)) continue;
    const { height } = body.getBoundingClientRect();
    heights.blocks.set(id, height);
    heights.rowPx ??= height / body.rows.length;
  }
}

function isSame(one: TableWindow, other: TableWindow): boolean {
  return (
    one.first === other.first &&
    one.last === other.last &&
    one.abovePx === other.abovePx &&
    one.belowPx === other.belowPx
  );
}
