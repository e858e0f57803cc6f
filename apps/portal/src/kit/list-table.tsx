/**
 * `<ListTable reading={useList('/programs')} caption columns keyOf empty={<Empty .../>} />`: a list
 * that is read page by page, as a `Table` with the button that loads the next page.
 */
import type { ReactNode } from 'react';
import type { List, Reading } from '../api/use-read.ts';
import { Loaded } from './loaded.tsx';
import { More, Table, type TableProps } from './table.tsx';

interface ListTableProps<T> extends Omit<TableProps<T>, 'rows'> {
  readonly reading: Reading<List<T>>;
}

export function ListTable<T>({ reading, ...table }: ListTableProps<T>): ReactNode {
  return (
    <Loaded reading={reading}>
      {(list) => (
        <>
          <Table {...table} rows={list.rows} />
          <More list={list} />
        </>
      )}
    </Loaded>
  );
}
