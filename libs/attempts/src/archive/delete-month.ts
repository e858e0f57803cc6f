/**
 * Deletes the rows of a month that the archive contains.
 *
 * 1. The run verifies the month's files, and the files of the copy. If no earlier run has begun the
 *    deletion, it compares the files with the rows of a snapshot.
 * 2. One commit begins the deletion: it stores the digest of each batch of lines in the files. From
 *    then on the database refuses new attempts with ids of the month.
 * 3. One commit deletes each batch, and keeps a row of `archived_attempts` for each attempt. The
 *    database refuses a batch whose rows do not have the stored digest.
 * 4. One commit marks the month as deleted. The database refuses the mark unless the rows that stay
 *    add up to the totals of the manifest.
 * 5. The run vacuums the tables.
 *
 * A crash after 1 leaves every row. After a crash in 2 or 3, each attempt is either in `attempts`
 * or in `archived_attempts`; the next run verifies the files again and goes on with the next batch.
 * A crash after 4 leaves dead rows, which the next run or autovacuum removes.
 *
 * The run's role may not delete rows itself: it calls functions of the database's owner for 2 to 4.
 */
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { failpoint } from '@laurel/failpoint';
import { type Database, isLockTimeout, isRestrictViolation, type Queryable } from '@laurel/postgres';
import type { Total } from '../domain/archived-rows.ts';
import { lockArchive } from '../repository/archive.ts';
import { listSigningKeys } from '../repository/signing-keys.ts';
import { type Batch, digestBatches } from './batches.ts';
import { digestFile } from './lines.ts';
import { MANIFEST_FILE, type Manifest } from './manifest.ts';
import type { Month } from './month.ts';
import { verifyMonth } from './verify-month.ts';
import { ArchiveRefusedError, compareWithDatabase, type DeletableMonths } from './write-month.ts';

/** A batch with its number, as the database stores it. */
export interface StoredBatch extends Batch {
  readonly number: number;
  readonly isDeleted: boolean;
}

/** The steps of a deletion in a service's database, which a run calls as the archive's role. */
export interface MonthDeletion {
  /** Returns the batches in the order of their numbers; null if no run has begun the deletion. */
  findBatches(on: Queryable, month: string): Promise<readonly StoredBatch[] | null>;
  /** Returns false if an earlier run has begun the deletion. */
  begin(
    on: Queryable,
    month: string,
    contents: {
      readonly manifestSha256: Buffer;
      readonly totals: readonly Total[];
      readonly batches: readonly Batch[];
    },
  ): Promise<boolean>;
  /**
   * Returns the number of attempts that this call deleted; 0 if an earlier call deleted the batch.
   */
  deleteBatch(on: Queryable, month: string, number: number): Promise<number>;
  /** Marks the month as deleted. Returns false if an earlier run has marked it. */
  end(on: Queryable, month: string): Promise<boolean>;
  vacuum(on: Queryable): Promise<void>;
}

export interface DeletionRun {
  readonly database: Database;
  readonly source: DeletableMonths;
  readonly deletion: MonthDeletion;
  /** The folder of all services' archives. */
  readonly root: string;
  /** The folder of a second copy of the archives; null if the operator names no copy. */
  readonly copy: string | null;
  readonly print: (line: string) => void;
}

/**
 * The commit that begins a deletion waits at most 300 ms for its lock, so that the service's calls
 * wait no longer than that behind it. The run tries again, because a long query or a vacuum may
 * hold the table.
 */
const MAX_TRIES = 120;
const PAUSE_MS = 1_000;

/**
 * Throws ArchiveRefusedError if the month may not be deleted, or if its rows differ from the files.
 */
export async function deleteMonth(month: Month, run: DeletionRun): Promise<void> {
  await run.database.transaction(async (tx) => {
    if (!(await lockArchive(tx))) throw new ArchiveRefusedError('another run is under way');
    await refuseByMessage(() => deleteLocked(month, run));
  });
}

async function deleteLocked(month: Month, run: DeletionRun): Promise<void> {
  const { database, source, deletion, print } = run;
  const folder = join(run.root, source.service, month.name);
  const { manifest, sha256 } = await verifyFolder(folder, month, run);
  if (run.copy !== null) {
    const copy = join(run.copy, source.service, month.name);
    if ((await verifyFolder(copy, month, run)).sha256 !== sha256) {
      throw new ArchiveRefusedError(`${copy} is valid, and not a copy of ${folder}`);
    }
  }
  print(`verified, ${run.copy === null ? 'without a copy' : 'with its copy'}`);

  const stored = await deletion.findBatches(database, month.name);
  if (stored === null) await compareWithDatabase(manifest, { folder, month, database, source });
  const storedEnds = stored?.map(({ endKey }) => endKey) ?? null;
  const batches = await digestBatches(folder, month, { keys: source.batchKeys, storedEnds });
  if (stored !== null && textOf(stored) !== textOf(batches)) {
    throw new ArchiveRefusedError(`${folder} does not have the batches with which ${month.name} was begun`);
  }
  await failpoint(`${source.service}.archive.after-comparison`);

  const contents = { manifestSha256: Buffer.from(sha256, 'hex'), totals: manifest.totals, batches };
  const isNew = await beginPatiently(() => deletion.begin(database, month.name, contents));
  print(`${isNew ? 'begun' : 'was begun before'}, ${batches.length} batches`);
  await failpoint(`${source.service}.archive.after-begin`);

  for (const [index] of batches.entries()) {
    if (stored?.[index]?.isDeleted) continue;
    const number = index + 1;
    const attempts = await deletion.deleteBatch(database, month.name, number);
    print(`batch ${number} of ${batches.length}: ${attempts} attempts deleted`);
    await failpoint(`${source.service}.archive.after-batch`);
  }
  const isEnded = await deletion.end(database, month.name);
  print(isEnded ? 'deleted' : 'was deleted before');
  await failpoint(`${source.service}.archive.after-end`);
  await deletion.vacuum(database);
  print('vacuumed');
}

async function verifyFolder(
  folder: string,
  month: Month,
  { database, source }: DeletionRun,
): Promise<{ readonly manifest: Manifest; readonly sha256: string }> {
  const keys = await listSigningKeys(database);
  try {
    const manifest = await verifyMonth(folder, { months: source, keys });
    if (manifest.month !== month.name) throw new Error(`this is ${manifest.month}`);
    return { manifest, sha256: (await digestFile(join(folder, MANIFEST_FILE))).sha256 };
  } catch (error) {
    throw new ArchiveRefusedError(`${folder} is not valid: ${(error as Error).message}`, { cause: error });
  }
}

async function beginPatiently(begin: () => Promise<boolean>): Promise<boolean> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await begin();
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
      if (tries === MAX_TRIES) {
        throw new ArchiveRefusedError(`the table was in use at each of ${MAX_TRIES} tries: run it again`, {
          cause: error,
        });
      }
    }
    await delay(PAUSE_MS);
  }
}

/** Shows the operator the message with which the database refuses a step. */
async function refuseByMessage(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (isRestrictViolation(error)) throw new ArchiveRefusedError((error as Error).message, { cause: error });
    throw error;
  }
}

function textOf(batches: readonly Batch[]): string {
  return batches.map(({ endKey, attempts, digest }) => `${endKey} ${attempts} ${digest.toString('hex')}`).join('\n');
}
