/**
 * `<LiveTable tail={tail} caption="Requests" columns={COLUMNS} keyOf empty={<Empty .../>} />`: what
 * `useLiveTail` reads, with the bar above and the older rows below. The columns are one array from
 * render to render, and no text of a row changes their widths.
 */
import type { ReactNode } from 'react';
import type { LiveTail } from '../api/use-live-tail.ts';
import { LiveBar } from './live-bar.tsx';
import { type Column, More, Table } from './table.tsx';

interface LiveTableProps<T> {
  readonly tail: LiveTail<T>;
  readonly caption: string;
  readonly columns: readonly Column<T>[];
  readonly keyOf: (row: T) => string;
  readonly empty: ReactNode;
}

export function LiveTable<T>({ tail, ...table }: LiveTableProps<T>): ReactNode {
  return (
    <>
      <LiveBar tail={tail} />
      <Table {...table} rows={tail.rows} isLive />
      <More list={tail} />
    </>
  );
}
