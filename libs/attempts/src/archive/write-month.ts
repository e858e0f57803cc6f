/**
 * Writes a month of a service's rows into a folder, and verifies it there. It deletes nothing.
 *
 * 1. The files, read in one snapshot, go into a draft's folder.
 * 2. The signed manifest goes beside them.
 * 3. All of it is read from the disk, verified, and compared with the rows of a second snapshot.
 * 4. The draft gets the name of the month.
 *
 * A crash before 4 leaves a draft, which the next run removes. A crash after 4 leaves the month,
 * which the next run verifies and leaves unchanged.
 *
 * A lock in the database keeps runs apart. It ends with the process that holds it.
 */
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { failpoint } from '@laurel/failpoint';
import type { Database, Queryable } from '@laurel/postgres';
import type { Signer } from '@laurel/signature';
import type { Total } from '../domain/archived-rows.ts';
import { archiveInstant, lockArchive, printInUtc, readCursor } from '../repository/archive.ts';
import { listSigningKeys } from '../repository/signing-keys.ts';
import { countLines, type Line, writeLines } from './lines.ts';
import { ARCHIVE_KIND, type ArchivedFile, fileOf, MANIFEST_FILE, type Manifest, signManifest } from './manifest.ts';
import type { Month } from './month.ts';
import { type ArchivedMonths, type ArchivedTable, verifyMonth } from './verify-month.ts';

/** How a service's rows of a month are read. */
export interface MonthSource extends ArchivedMonths {
  /** The newest migration that this release has. */
  readonly migration: string;
  /** The values of each table's cursor, except of those that are in each month whole. */
  range(month: Month): readonly unknown[];
  /** An instant in the oldest month; null without rows. */
  oldest(on: Queryable): Promise<Date | null>;
  totals(on: Queryable, month: Month): Promise<readonly Total[]>;
  /** What of the month may still change, each as a clause; empty if nothing may. */
  unfinished(on: Queryable, month: Month): Promise<readonly string[]>;
}

/** A month that cannot be written or deleted now; the message says why. */
export class ArchiveRefusedError extends Error {
  override readonly name = 'ArchiveRefusedError';
}

const DRAFT = '.draft';
/** The audit's limit: a run reads no more at once than an audit. */
const STATEMENT_TIMEOUT_MS = 120_000;

export interface ArchiveRun {
  readonly database: Database;
  readonly source: MonthSource;
  readonly signer: Signer;
  /** The folder of all services' archives. */
  readonly root: string;
}

/** Returns whether this run wrote the month; otherwise an earlier one had. Both verify it. */
export async function writeMonth(month: Month, run: ArchiveRun): Promise<{ isNew: boolean; manifest: Manifest }> {
  const parent = join(run.root, run.source.service);
  await mkdir(parent, { recursive: true });
  return await run.database.transaction(async (tx) => {
    if (!(await lockArchive(tx))) throw new ArchiveRefusedError('another run is under way');
    const folder = join(parent, month.name);
    const draft = `${folder}${DRAFT}`;
    await rm(draft, { recursive: true, force: true });
    const isNew = !(await readdir(parent)).includes(month.name);
    if (isNew) await writeDraft(draft, month, run);
    const manifest = await verifyWithDatabase(isNew ? draft : folder, month, run);
    if (isNew) {
      await failpoint(`${run.source.service}.archive.after-verification`);
      await rename(draft, folder);
      await syncFolder(parent);
      await failpoint(`${run.source.service}.archive.after-rename`);
    }
    return { isNew, manifest };
  });
}

async function writeDraft(draft: string, month: Month, { database, source, signer }: ArchiveRun): Promise<void> {
  const keys = await listSigningKeys(database);
  if (!keys.some(({ publicKey }) => publicKey.equals(signer.publicKey))) {
    throw new ArchiveRefusedError(
      'no service has signed with this key yet, so no list names it: start one with it first',
    );
  }
  const manifest = await inSnapshot(database, async (tx): Promise<Manifest> => {
    const unfinished = await source.unfinished(tx, month);
    if (unfinished.length > 0)
      throw new ArchiveRefusedError(`${month.name} may still change: ${unfinished.join('; ')}`);
    const writtenAt = await archiveInstant(tx);
    await mkdir(draft);
    const files: ArchivedFile[] = [];
    for (const [table, read] of Object.entries(source.tables)) {
      const name = fileOf(table);
      files.push({ table, name, ...(await writeLines(join(draft, name), pagesOf(tx, source, read, month))) });
    }
    return {
      kind: ARCHIVE_KIND,
      version: 1,
      service: source.service,
      month: month.name,
      least_id: month.leastId,
      end_id: month.endId,
      written_at: writtenAt.toISOString(),
      migration: source.migration,
      files,
      totals: await source.totals(tx, month),
    };
  });
  await failpoint(`${source.service}.archive.after-files`);
  const file = await open(join(draft, MANIFEST_FILE), 'wx');
  try {
    await file.writeFile(signManifest(manifest, signer));
    await file.sync();
  } finally {
    await file.close();
  }
  await syncFolder(draft);
  await failpoint(`${source.service}.archive.after-manifest`);
}

/** What the folder has must be true of itself, and of the database in a snapshot of now. */
async function verifyWithDatabase(folder: string, month: Month, { database, source }: ArchiveRun): Promise<Manifest> {
  const manifest = await verifyMonth(folder, { months: source, keys: await listSigningKeys(database) });
  if (manifest.month !== month.name) throw new Error(`${folder} is ${manifest.month}`);
  await compareWithDatabase(manifest, { folder, month, database, source });
  return manifest;
}

/** Refuses the month unless the database, in a snapshot of now, has the rows of verified files. */
export async function compareWithDatabase(
  manifest: Manifest,
  {
    folder,
    month,
    database,
    source,
  }: Pick<ArchiveRun, 'database' | 'source'> & { readonly folder: string; readonly month: Month },
): Promise<void> {
  await inSnapshot(database, async (tx) => {
    for (const { table, linesSha256, rows } of manifest.files) {
      const read = source.tables[table];
      if (read === undefined || read.isOfEachMonth) continue;
      const counted = await countLines(pagesOf(tx, source, read, month));
      if (counted.linesSha256 !== linesSha256) {
        throw new ArchiveRefusedError(
          `${folder} has ${rows} rows of ${table}, which are not the ${counted.rows} of the database`,
        );
      }
    }
  });
}

function pagesOf(
  tx: Queryable,
  source: MonthSource,
  { declare, isOfEachMonth }: ArchivedTable,
  month: Month,
): AsyncIterable<readonly Line[]> {
  return readCursor(tx, declare, isOfEachMonth ? [] : source.range(month));
}

function inSnapshot<Result>(database: Database, work: (tx: Queryable) => Promise<Result>): Promise<Result> {
  return database.transaction(
    async (tx) => {
      await printInUtc(tx);
      return await work(tx);
    },
    { isSnapshot: true, statementTimeoutMs: STATEMENT_TIMEOUT_MS },
  );
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path);
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
