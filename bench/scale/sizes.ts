/** The size of each table with its indexes, from 1 MiB on. */
import type { Stack } from '@laurel/testing';
import type { Figure } from './figures.ts';

const SIZES = `
  select relname as name, pg_total_relation_size(oid)::float8 / 1048576 as mib, pg_indexes_size(oid)::float8 / 1048576 as index_mib,
    reltuples::float8 as rows
  from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace and pg_total_relation_size(oid) >= 1048576
  order by mib desc`;

const SERVICES = ['wallet', 'challenge', 'tournament', 'webhook'] as const;

export async function measureSizes(stack: Stack): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  for (const service of SERVICES) {
    const rows = await stack
      .database(service)
      .query<{ name: string; mib: number; index_mib: number; rows: number }>(SIZES);
    for (const { name, mib, index_mib: indexMiB, rows: count } of rows) {
      const note = `${Math.round(count).toLocaleString('en')} rows, ${Math.round(indexMiB)} MiB of it indexes`;
      figures.push({ name: `${service}: ${name}`, mib, note });
    }
  }
  return figures;
}
