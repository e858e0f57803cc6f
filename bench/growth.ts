// The bytes that one flow adds to each table of each database, indexes and TOAST included:
// docs/operations/retention.md has the figures.
import { SERVICES, type Stack } from '@laurel/testing';

/** A table that grows by less than a byte a flow is not printed. */
const LEAST_BYTES = 1;

export interface Growth {
  /** Measures the bytes that `work` adds. `countOf` returns how many flows the work ran. */
  during<Result>(unit: string, work: () => Promise<Result>, countOf: (result: Result) => number): Promise<Result>;
  /** Returns the rows of a printed table; the first row is its head. */
  table(): (string | number)[][];
}

interface Added {
  readonly unit: string;
  readonly bytes: ReadonlyMap<string, number>;
}

export function createGrowth(stack: Stack): Growth {
  const added: Added[] = [];
  return {
    async during(unit, work, countOf) {
      const before = await tableBytes(stack);
      const result = await work();
      const after = await tableBytes(stack);
      const count = countOf(result);
      const bytes = [...after].map(([name, size]) => [name, (size - (before.get(name) ?? 0)) / count] as const);
      added.push({ unit: `${unit} (${count})`, bytes: new Map(bytes) });
      return result;
    },
    table() {
      const names = [...new Set(added.flatMap(({ bytes }) => [...bytes.keys()]))];
      const rows = names.map((name) => [name, ...added.map(({ bytes }) => Math.round(bytes.get(name) ?? 0))]);
      return [
        ['bytes that one adds', ...added.map(({ unit }) => unit)],
        ...rows.filter(([, ...bytes]) => bytes.some((one) => Number(one) >= LEAST_BYTES)),
      ];
    },
  };
}

/** The bytes of each table by service and name; a partitioned table counts with its partitions. */
async function tableBytes(stack: Stack): Promise<ReadonlyMap<string, number>> {
  const sizes = new Map<string, number>();
  for (const service of SERVICES) {
    const rows = await stack.database(service).query<{ name: string; bytes: number }>(TABLE_BYTES);
    for (const { name, bytes } of rows) sizes.set(`${service}.${name}`, bytes);
  }
  return sizes;
}

const TABLE_BYTES = `
  select relname as name,
    coalesce((select sum(pg_total_relation_size(relid)) from pg_partition_tree(pg_class.oid)),
      pg_total_relation_size(pg_class.oid))::float8 as bytes
  from pg_class
  where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
  order by relname`;
