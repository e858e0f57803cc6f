/** The months of this service for the archive: its tables, and which months may be written. */
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  ArchiveRefusedError,
  type MonthSource,
  monthOf,
  monthsBetween,
  type Total,
  writeMonth,
} from '@laurel/attempts/archive';
import type { Database } from '@laurel/postgres';
import type { Signer } from '@laurel/signature';
import { instantOfId } from '@laurel/values/ids';
import { isBefore, later } from '@laurel/values/instant';
import { inspectMonth } from './domain/archived-month.ts';
import {
  ARCHIVED_KEYS,
  type ArchivedTable,
  isOfEachMonth,
  loadArchivedTotals,
  loadPresent,
  loadUnfinished,
  oldestAttemptId,
  pageOfArchived,
} from './repository/archived-rows.ts';

/**
 * A month may be written once it is this old: an idempotency key, by which an attempt of an old id
 * might still be created, counts for a day.
 */
const MIN_AGE_MS = 7 * 86_400_000;

export const archivedMonths: MonthSource = {
  keys: ARCHIVED_KEYS,
  inspect: inspectMonth,
  service: 'challenge',
  migration:
    readdirSync(fileURLToPath(new URL('../migrations/', import.meta.url)))
      .sort()
      .at(-1) ?? '',
  isOfMonth: (table) => !isOfEachMonth(table as ArchivedTable),
  page: (on, table, of) => pageOfArchived(on, table as ArchivedTable, of),
  totals: async (on, month) =>
    (await loadArchivedTotals(on, month)).map((total): Total => ({ ...total, rows: Number(total.rows) })),
  unfinished: loadUnfinished,
};

/** Writes or verifies each month before that of the name, the oldest first. */
export async function* writeMonthsBefore(
  name: string,
  run: { readonly database: Database; readonly signer: Signer; readonly root: string },
): AsyncGenerator<{ month: string; isNew: boolean; rows: number; bytes: number }> {
  const end = monthOf(name);
  if (end === null) throw new ArchiveRefusedError(`${name} is no month, as 2026-01 is`);
  const present = await loadPresent(run.database);
  if (isBefore(present, later(end.from, MIN_AGE_MS))) {
    throw new ArchiveRefusedError(`a month is written when it ended ${MIN_AGE_MS / 86_400_000} days ago`);
  }
  const oldest = await oldestAttemptId(run.database);
  if (oldest === null) return;
  for (const month of monthsBetween(instantOfId(oldest), end.from)) {
    const { isNew, manifest } = await writeMonth(month, { ...run, source: archivedMonths });
    const of = (size: (file: { rows: number; bytes: number }) => number) =>
      manifest.files.reduce((sum, file) => sum + size(file), 0);
    yield { month: month.name, isNew, rows: of(({ rows }) => rows), bytes: of(({ bytes }) => bytes) };
  }
}
