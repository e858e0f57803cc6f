/**
 * `<Table caption="Attempts" columns={[{ name: 'Player', cell: (row) => row.player_ref }]} rows
 * keyOf empty={<Empty .../>} />`: a table that becomes cards below 700 px. A link with the class
 * `row-link` in a cell makes the whole row clickable. A long table renders only what is near the
 * window, in blocks of rows. Columns that are one array from render to render keep it quick.
 */
import { memo, type ReactNode, useMemo, useRef } from 'react';
import type { Failure } from '../api/failure.ts';
import { Button } from './button.tsx';
import { FailureLine } from './problem.tsx';
import { blocksOf, type RowBlock } from './table-blocks.ts';
import { useTableWindow } from './use-table-window.ts';

export interface Column<T> {
  /** The heading, and the label in a card. */
  readonly name: string;
  readonly cell: (row: T) => ReactNode;
  /** `end` for numbers and money. */
  readonly align?: 'end';
  /** The column's share of the width; 1 for a column without it. */
  readonly grow?: number;
}

export interface TableProps<T> {
  /** Names the table for a screen reader. */
  readonly caption: string;
  readonly columns: readonly Column<T>[];
  readonly rows: readonly T[];
  readonly keyOf: (row: T) => string;
  /** This is shown in place of a table without rows. */
  readonly empty: ReactNode;
  /** If true, rows are added while somebody looks, so the texts of rows do not set the widths. */
  readonly isLive?: boolean;
}

/** The width of one share, in per cent, in a table whose texts set the widths. */
const PERCENT_PER_SHARE = 12;

/** A table with fewer rows than this renders all of them. */
const LONG_TABLE_ROWS = 200;

export function Table<T>({ caption, columns, rows, keyOf, empty, isLive = false }: TableProps<T>): ReactNode {
  const table = useRef<HTMLTableElement>(null);
  const isLong = rows.length > LONG_TABLE_ROWS;
  const blocks = useBlocks(rows, keyOf);
  const shown = useTableWindow(table, blocks, isLong);
  if (rows.length === 0) return empty;
  const isFixed = isLong || isLive;
  const isShown = ({ id }: RowBlock<T>) => shown === undefined || (shown.first <= id && id <= shown.last);
  return (
    <table ref={table} className="table" data-fixed={isFixed}>
      <caption className="for-screen-readers">{caption}</caption>
      <thead>
        <tr>
          {columns.map((column) => (
            <th
              key={column.name}
              scope="col"
              data-align={column.align}
              style={{ width: widthOf(column, columns, isFixed) }}
            >
              {column.name}
            </th>
          ))}
        </tr>
      </thead>
      <Spacer heightPx={shown?.abovePx} />
      {blocks.filter(isShown).map((block) => (
        <Block
          key={block.id}
          columns={columns as readonly Column<unknown>[]}
          block={block}
          keyOf={keyOf as (row: unknown) => string}
        />
      ))}
      <Spacer heightPx={shown?.belowPx} />
    </table>
  );
}

type Share = Pick<Column<never>, 'grow'>;

function widthOf({ grow }: Share, columns: readonly Share[], isFixed: boolean): string | undefined {
  if (!isFixed) return grow === undefined ? undefined : `${grow * PERCENT_PER_SHARE}%`;
  const shares = columns.reduce((sum, column) => sum + (column.grow ?? 1), 0);
  return `${(100 * (grow ?? 1)) / shares}%`;
}

function useBlocks<T>(rows: readonly T[], keyOf: (row: T) => string): readonly RowBlock<T>[] {
  const before = useRef<readonly RowBlock<T>[]>([]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key of a row does not change.
  return useMemo(() => {
    before.current = blocksOf(before.current, rows, keyOf);
    return before.current;
  }, [rows]);
}

/** A spacer is as high as the rows that it stands for. */
function Spacer({ heightPx = 0 }: { readonly heightPx: number | undefined }): ReactNode {
  if (heightPx === 0) return null;
  return (
    <tbody aria-hidden="true" className="table-spacer">
      <tr style={{ height: heightPx }} />
    </tbody>
  );
}

interface BlockProps {
  readonly columns: readonly Column<unknown>[];
  readonly block: RowBlock<unknown>;
  readonly keyOf: (row: unknown) => string;
}

/** A block of rows. React renders it again only if its rows or columns change. */
const Block = memo(
  ({ columns, block, keyOf }: BlockProps): ReactNode => (
    <tbody data-block={block.id}>
      {block.rows.map((row) => (
        <tr key={keyOf(row)}>
          {columns.map(({ name, cell, align }) => (
            <td key={name} data-label={name} data-align={align}>
              {/* One element, because a card is a grid of a label and a value. */}
              <div>{cell(row)}</div>
            </td>
          ))}
        </tr>
      ))}
    </tbody>
  ),
  (one, other) => one.block === other.block && one.columns === other.columns,
);

interface MoreProps {
  readonly list: {
    readonly hasMore: boolean;
    readonly isLoadingMore: boolean;
    readonly moreFailure: Failure | undefined;
    readonly loadMore: () => void;
  };
}

/** `<More list={list} />` loads the next page below a table, and shows nothing on the last one. */
export function More({ list }: MoreProps): ReactNode {
  if (!list.hasMore) return null;
  return (
    <div className="more">
      <FailureLine failure={list.moreFailure} />
      <Button isBusy={list.isLoadingMore} onClick={list.loadMore}>
        {list.isLoadingMore ? 'Loading ...' : list.moreFailure === undefined ? 'Load more' : 'Try again'}
      </Button>
    </div>
  );
}
