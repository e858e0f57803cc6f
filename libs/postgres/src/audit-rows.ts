/**
 * What the rules of an audit in slices read (sliced-audit.ts): a table, or the rows of it that are
 * in the slice.
 */
import type { SlicedCheck, Walk } from './audit-walk.ts';

/** The rows that a rule reads, with their `key` in the walk: all of them, or those of a slice. */
export interface Rows {
  readonly walk: string;
  readonly all: string;
  /** A name of `shared`. */
  readonly inSlice: string;
  /** What the walk shares, so that the rows of a slice are read once for all rules. */
  readonly shared: Readonly<Record<string, string>>;
}

/** Rows read by two queries: `all` of them, or those of a slice, once for all rules, as `name`. */
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
 * The `with` clauses of a slice: `slice (key)`, whose keys are `$1`, and the walk's shared queries.
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
 * The distinct uuids of an indexed column above `$1`, at most `$2`. Each is found by the index, so
 * rows that share one are not read.
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
 * A page of the first keys whose `weight` is at most `most` together, or of the first one. The
 * argument `keys` is a query of distinct keys above `$1`, at least the first `$2`.
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

/** A rule about rows of one walk: the same query over all of them and over those of a slice. */
export function ofRows(
  { walk, all, inSlice }: Rows,
  sql: (rows: string) => string,
): Pick<SlicedCheck, 'violations' | 'slices'> {
  return { violations: sql(all), slices: { [walk]: sql(inSlice) } };
}
