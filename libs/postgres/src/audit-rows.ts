/**
 * The rows that the rules of an audit in slices read (sliced-audit.ts): a whole table, or the
 * table's rows in a slice.
 */
import type { SlicedCheck, Walk } from './audit-walk.ts';

/**
 * The rows that a rule reads, with their `key` in the walk: all rows (`all`), or the rows of a
 * slice (`inSlice`).
 */
export interface Rows {
  readonly walk: string;
  readonly all: string;
  /** The name of a query in `shared`. */
  readonly inSlice: string;
  /**
   * The queries that the rules of the walk share, so that a slice's rows are read once for all
   * rules.
   */
  readonly shared: Readonly<Record<string, string>>;
}

/**
 * Rows that are read by two queries: `all` reads all rows, and `inSlice` reads the rows of a slice,
 * once for all rules, as `name`.
 */
export function sharedRows(walk: string, all: string, inSlice: string, name = `walked_${walk}`): Rows {
  return { walk, all, inSlice: name, shared: { [name]: inSlice } };
}

/** The rows of a table, walked in the order of one of its unique uuid columns. */
export function rowsOf(walk: string, table: string, key: string): Rows {
  return sharedRows(
    walk,
    `(select ${key} as key, ${table}.* from ${table})`,
    `select slice.key, ${table}.* from slice join ${table} on ${table}.${key} = slice.key`,
  );
}

/**
 * SQL for the `with` clauses of a slice: `slice (key)`, whose keys are `$1`, and the walk's shared
 * queries.
 */
export function sliceSql({ shared = {} }: Walk): string {
  return [SLICE, ...Object.entries(shared).map(([name, rows]) => `${name} as materialized (${rows})`)].join(', ');
}

const SLICE = 'slice as materialized (select key from unnest($1::uuid[]) as keys (key))';

/** The query of one page of a walk over a table by a unique column of uuids. */
export function pageSql(table: string, key: string): string {
  return `select ${key} as key from ${table} where ${key} > $1 order by ${key} limit $2`;
}

/**
 * SQL for the distinct uuids of an indexed column above `$1`, at most `$2`. The index finds the
 * next uuid each time, so rows with the same uuid are skipped.
 */
export function distinctSql(table: string, column: string, where = 'true'): string {
  const next = (after: string) =>
    `(select ${column} from ${table} where ${column} > ${after} and ${where} order by ${column} limit 1)`;
  return `
    with recursive found (key) as (
      select ${next('$1')}
      union all
      select ${next('found.key')} from found where found.key is not null
    )
    select key from found where key is not null limit $2`;
}

/**
 * SQL for a page of the first keys whose total `weight` is at most `most`, or of only the first key
 * if it is heavier. `keys` is a query of distinct keys above `$1`, at least of the first `$2`.
 */
export function weighedPageSql(keys: string, weight: string, most: number): string {
  return `
    select key
    from (
      select key, sum(weight) over (order by key) - weight as before
      from (select key, ${weight} as weight from (${keys}) as found order by key limit $2) as weighed
    ) as placed
    where before < ${most}
    order by key`;
}

/** A rule about the rows of one walk: the same query over all rows and over the rows of a slice. */
export function ofRows(
  { walk, all, inSlice }: Rows,
  sql: (rows: string) => string,
): Pick<SlicedCheck, 'violations' | 'slices'> {
  return { violations: sql(all), slices: { [walk]: sql(inSlice) } };
}
