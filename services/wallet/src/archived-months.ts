/** How the archive reads this service's months: parts of the players' statements. */
import type { MonthSource } from '@laurel/attempts/archive';
import { inspectAfter, inspectMonth } from './domain/archived-month.ts';
import { ARCHIVED_TABLES, loadArchivedTotals, oldestInstant } from './repository/archived-rows.ts';

export const archivedMonths: MonthSource = {
  service: 'wallet',
  migrations: new URL('../migrations/', import.meta.url),
  tables: ARCHIVED_TABLES,
  range: ({ from, until }) => [from, until],
  oldest: oldestInstant,
  // The ledger is append-only.
  unfinished: async () => [],
  totals: loadArchivedTotals,
  inspect: inspectMonth,
  inspectAfter,
  sealOf: async () => null,
};
