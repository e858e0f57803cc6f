/** The months of this service for the archive: whole rounds, by the instant at which they end. */
import type { DeletableMonths } from '@laurel/attempts/archive';
import { inspectMonth } from './domain/archived-month.ts';
import { archivedSealOf } from './domain/archived-seal.ts';
import { ARCHIVED_TABLES, loadArchivedTotals, loadUnfinished, oldestEnd } from './repository/archived-rows.ts';

const MAX_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

export const archivedMonths: DeletableMonths = {
  service: 'tournament',
  migrations: new URL('../migrations/', import.meta.url),
  tables: ARCHIVED_TABLES,
  range: ({ from, until }) => [from, until],
  oldest: oldestEnd,
  unfinished: loadUnfinished,
  totals: loadArchivedTotals,
  inspect: inspectMonth,
  sealOf: archivedSealOf,
  // A batch has whole entries.
  batchKeys: {
    keyOf: ({ round_id: roundId, account_id: accountId }) => `${roundId} ${accountId}`,
    endOf: () => `${MAX_ID} ${MAX_ID}`,
  },
};
