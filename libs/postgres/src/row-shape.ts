/**
 * How to read the rows of a statement. `pg` derives it for every query; this library keeps it with
 * the prepared statement.
 */
import { types } from './types.ts';

export interface RowShape {
  readonly columns: readonly Column[];
  /**
   * Copied for each row, so that all rows share one hidden class. If columns share a name, the last
   * counts.
   */
  readonly empty: Readonly<Record<string, unknown>>;
}

interface Column {
  readonly name: string;
  readonly parse: (text: string) => unknown;
}

export const NO_COLUMNS: RowShape = { columns: [], empty: {} };

export function rowShapeOf(fields: readonly { readonly name: string; readonly dataTypeID: number }[]): RowShape {
  return {
    columns: fields.map(({ name, dataTypeID }) => ({ name, parse: types.getTypeParser(dataTypeID, 'text') })),
    empty: Object.fromEntries(fields.map(({ name }) => [name, null])),
  };
}

/** Reads one row. Throws what a parser throws. */
export function readRow({ columns, empty }: RowShape, values: readonly (string | null)[]): Record<string, unknown> {
  const row = { ...empty };
  for (let index = 0; index < columns.length; index += 1) {
    const column = columns[index];
    const text = values[index];
    if (column !== undefined) row[column.name] = text == null ? null : column.parse(text);
  }
  return row;
}
