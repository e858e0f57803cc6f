/** The months of this service for the archive: whole rounds, by the instant at which they end. */
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { MonthSource } from '@laurel/attempts/archive';
import { inspectMonth } from './domain/archived-month.ts';
import { archivedSealOf } from './domain/archived-seal.ts';
import { ARCHIVED_TABLES, loadArchivedTotals, loadUnfinished, oldestEnd } from './repository/archived-rows.ts';

export const archivedMonths: MonthSource = {
  service: 'tournament',
  migration:
    readdirSync(fileURLToPath(new URL('../migrations/', import.meta.url)))
      .sort()
      .at(-1) ?? '',
  tables: ARCHIVED_TABLES,
  range: ({ from, until }) => [from, until],
  oldest: oldestEnd,
  unfinished: loadUnfinished,
  totals: loadArchivedTotals,
  inspect: inspectMonth,
  sealOf: archivedSealOf,
};
