/** How the archive reads this service's months. The id of an attempt determines its month. */
import type { DeletableMonths } from '@laurel/attempts/archive';
import { instantOfId } from '@laurel/values/ids';
import { inspectMonth } from './domain/archived-month.ts';
import { ARCHIVED_TABLES, loadArchivedTotals, loadUnfinished, oldestAttemptId } from './repository/archived-rows.ts';

export const archivedMonths: DeletableMonths = {
  service: 'challenge',
  migrations: new URL('../migrations/', import.meta.url),
  tables: ARCHIVED_TABLES,
  range: ({ leastId, endId }) => [leastId, endId],
  oldest: async (on) => {
    const id = await oldestAttemptId(on);
    return id === null ? null : instantOfId(id);
  },
  unfinished: loadUnfinished,
  totals: loadArchivedTotals,
  inspect: inspectMonth,
  sealOf: async () => null,
  batchKeys: { keyOf: ({ id }) => String(id), endOf: ({ endId }) => endId },
};
