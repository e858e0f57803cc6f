/**
 * Writes a month of a service's rows into a folder, and verifies the files there. It deletes
 * nothing.
 *
 * 1. The run writes the rows of one snapshot to files in a draft folder.
 * 2. It writes the signed manifest beside the files.
 * 3. It reads all files from the disk, verifies them, and compares them with a second snapshot.
 * 4. It renames the draft folder to the name of the month.
 *
 * A crash before 4 leaves a draft, which the next run removes. A crash after 4 leaves the month,
 * which the next run verifies and leaves unchanged.
 *
 * Only one run at a time holds the lock in the database. The lock ends with the run's process.
 */
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { failpoint } from '@laurel/failpoint';
import type { Database, Queryable } from '@laurel/postgres';
import type { Signer } from '@laurel/signature';
import type { Total } from '../domain/archived-rows.ts';
import { archiveInstant, lockArchive, printInUtc, readCursor } from '../repository/archive.ts';
import { listSigningKeys, type SigningKey } from '../repository/signing-keys.ts';
import type { BatchKeys } from './batches.ts';
import { countLines, type Line, writeLines } from './lines.ts';
import { ARCHIVE_KIND, type ArchivedFile, fileOf, MANIFEST_FILE, type Manifest, signManifest } from './manifest.ts';
import type { Month } from './month.ts';
import { type ArchivedMonths, type ArchivedTable, verifyMonth } from './verify-month.ts';

/** How the archive reads a service's rows of a month. */
export interface MonthSource extends ArchivedMonths {
  /** The folder of the service's migrations. The manifest names the newest one. */
  readonly migrations: URL;
  /**
   * The parameters of the tables' cursors. Tables that are written whole into each month take none.
   */
  range(month: Month): readonly unknown[];
  /** Finds an instant in the oldest month; null if the service has no rows. */
  oldest(on: Queryable): Promise<Date | null>;
  totals(on: Queryable, month: Month): Promise<readonly Total[]>;
  /**
   * Lists the parts of the month that may still change, each as a clause; empty if nothing may
   * change.
   */
  unfinished(on: Queryable, month: Month): Promise<readonly string[]>;
}

/** The months of a service that deletes them. */
export interface DeletableMonths extends MonthSource {
  readonly batchKeys: BatchKeys;
}

/** A month that cannot be written or deleted now; the message says why. */
export class ArchiveRefusedError extends Error {
  override readonly name = 'ArchiveRefusedError';
}

const DRAFT = '.draft';
/** The limit of an audit: no statement of a run may take longer than an audit's statement. */
const STATEMENT_TIMEOUT_MS = 120_000;

export interface ArchiveRun {
  readonly database: Database;
  readonly source: MonthSource;
  readonly signer: Signer;
  /** The folder of all services' archives. */
  readonly root: string;
  /** The published keys; absent if the service's own database has them. */
  readonly keys?: readonly SigningKey[];
}

/**
 * Writes the month, or verifies a month that an earlier run wrote. `isNew` is true if this run
 * wrote it.
 */
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

async function writeDraft(draft: string, month: Month, run: ArchiveRun): Promise<void> {
  const { database, source, signer } = run;
  const keys = await keysOf(run);
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
      migration: (await readdir(source.migrations)).sort().at(-1) ?? '',
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

/** Verifies the files by themselves, and against the database in a new snapshot. */
async function verifyWithDatabase(folder: string, month: Month, run: ArchiveRun): Promise<Manifest> {
  const { database, source } = run;
  const manifest = await verifyMonth(folder, { months: source, keys: await keysOf(run) });
  if (manifest.month !== month.name) throw new Error(`${folder} is ${manifest.month}`);
  await compareWithDatabase(manifest, { folder, month, database, source });
  return manifest;
}

/**
 * Refuses the month unless a new snapshot of the database has the same rows as the verified files.
 */
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

async function keysOf({ keys, database }: ArchiveRun): Promise<readonly SigningKey[]> {
  return keys ?? (await listSigningKeys(database));
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
