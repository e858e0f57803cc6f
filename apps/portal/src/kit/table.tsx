/**
 * `<Table caption="Attempts" columns={[{ name: 'Player', cell: (row) => row.player_ref }]} rows keyOf
 * empty={<Empty .../>} />`: a table that becomes cards below 700 px. A link with the class
 * `row-link` in a cell makes the whole row clickable. Long tables render only what is near the
 * window, in blocks of rows.
 */
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { Button } from './button.tsx';

export interface Column<T> {
  /** The heading, and the label in a card. */
  readonly name: string;
  readonly cell: (row: T) => ReactNode;
  /** `end` for numbers and money. */
  readonly align?: 'end';
  /** The share of the width, beside the others' 1. */
  readonly grow?: 2 | 3;
}

interface TableProps<T> {
  /** Names the table for a screen reader. */
  readonly caption: string;
  readonly columns: readonly Column<T>[];
  readonly rows: readonly T[];
  readonly keyOf: (row: T) => string;
  /** In place of a table without rows. */
  readonly empty: ReactNode;
}

const BLOCK_ROWS = 50;
/** Below this a table renders all its rows. */
const LONG_TABLE_ROWS = 200;
/** Blocks nearer to the window than this are rendered. */
const MARGIN_PX = 1_500;
/** Until a block has been rendered once. */
const ASSUMED_ROW_PX = 41;

export function Table<T>({ caption, columns, rows, keyOf, empty }: TableProps<T>): ReactNode {
  if (rows.length === 0) return empty;
  const isLong = rows.length > LONG_TABLE_ROWS;
  const blocks = isLong ? blocksOf(rows) : [rows];
  return (
    <table className="table" data-long={isLong}>
      <caption className="for-screen-readers">{caption}</caption>
      <thead>
        <tr>
          {columns.map(({ name, align, grow }) => (
            <th key={name} scope="col" data-align={align} data-grow={grow}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      {blocks.map((block, index) => (
        // Rows are added at both ends, so a block has no key of its own.
        // biome-ignore lint/suspicious/noArrayIndexKey: see above.
        <Block key={index} columns={columns} rows={block} keyOf={keyOf} isLong={isLong} />
      ))}
    </table>
  );
}

interface BlockProps<T> {
  readonly columns: readonly Column<T>[];
  readonly rows: readonly T[];
  readonly keyOf: (row: T) => string;
  readonly isLong: boolean;
}

function Block<T>({ columns, rows, keyOf, isLong }: BlockProps<T>): ReactNode {
  const body = useRef<HTMLTableSectionElement>(null);
  const spacer = useRef<HTMLTableRowElement>(null);
  const height = useRef(rows.length * ASSUMED_ROW_PX);
  const [isNear, setNear] = useState(!isLong);
  useEffect(() => {
    if (!isLong || body.current === null) return setNear(true);
    const element = body.current;
    const observer = new IntersectionObserver(
      ([entry]) => {
        if (entry === undefined) return;
        if (!entry.isIntersecting) height.current = element.offsetHeight || height.current;
        setNear(entry.isIntersecting);
      },
      { rootMargin: `${MARGIN_PX}px 0px` },
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, [isLong]);
  useEffect(() => {
    if (spacer.current !== null) spacer.current.style.height = `${height.current}px`;
  });
  return (
    <tbody ref={body}>
      {isNear ? (
        rows.map((row) => (
          <tr key={keyOf(row)}>
            {columns.map(({ name, cell, align }) => (
              <td key={name} data-label={name} data-align={align}>
                {/* One element, because a card is a grid of a label and a value. */}
                <div>{cell(row)}</div>
              </td>
            ))}
          </tr>
        ))
      ) : (
        <tr ref={spacer}>
          <td colSpan={columns.length} />
        </tr>
      )}
    </tbody>
  );
}

function blocksOf<T>(rows: readonly T[]): readonly (readonly T[])[] {
  const blocks: T[][] = [];
  for (let start = 0; start < rows.length; start += BLOCK_ROWS) blocks.push(rows.slice(start, start + BLOCK_ROWS));
  return blocks;
}

interface MoreProps {
  readonly list: { readonly hasMore: boolean; readonly isLoadingMore: boolean; readonly loadMore: () => void };
}

/** `<More list={list} />`: loads the next page below a table; nothing on the last one. */
export function More({ list }: MoreProps): ReactNode {
  if (!list.hasMore) return null;
  return (
    <p className="more">
      <Button isBusy={list.isLoadingMore} onClick={list.loadMore}>
        {list.isLoadingMore ? 'Loading ...' : 'Load more'}
      </Button>
    </p>
  );
}
