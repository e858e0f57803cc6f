/**
 * The command of one service's archive. A month is a folder, such as FOLDER/challenge/2025-12.
 *
 *   --before 2026-01 --to FOLDER   writes the months before 2026-01 that FOLDER lacks, and
 *                                  verifies the months that FOLDER contains; a service whose
 *                                  database has no signing keys also needs --keys FILE
 *   --verify MONTH --keys FILE     verifies a month without the database, by the keys in FILE,
 *                                  a copy of /.well-known/laurel-keys.json
 *   --delete 2025-12 --from FOLDER deletes the rows of a month that FOLDER contains; with
 *                                  --copy FOLDER also verifies a second copy
 *   --receipt ID --month MONTH     prints a receipt for `npm run verify-receipt`
 *   --attempt ID --month MONTH     prints an attempt, with its receipt if it has one
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createDatabase } from '@laurel/postgres';
import { createSigner } from '@laurel/signature';
import { isBefore, later } from '@laurel/values/instant';
import { type ArchivedRow, bytesOf } from '../domain/archived-rows.ts';
import { archiveInstant } from '../repository/archive.ts';
import type { SigningKey } from '../repository/signing-keys.ts';
import { deleteMonth, type MonthDeletion } from './delete-month.ts';
import { readLines } from './lines.ts';
import { fileOf } from './manifest.ts';
import { monthOf, monthsBetween } from './month.ts';
import { type ArchivedMonths, rowsIn, verifyMonth } from './verify-month.ts';
import {
  ArchiveRefusedError,
  type ArchiveRun,
  type DeletableMonths,
  type MonthSource,
  writeMonth,
} from './write-month.ts';

const USAGE = `usage: npm run archive -- --before 2026-01 --to FOLDER [--keys FILE] [--service NAME]
       npm run archive -- --verify FOLDER/challenge/2025-12 --keys FILE
       npm run archive -- --delete 2025-12 --from FOLDER [--copy FOLDER] --service NAME
       npm run archive -- --receipt ID --month FOLDER/challenge/2025-12
       npm run archive -- --attempt ID --month FOLDER/challenge/2025-12`;
/** Long, because a run waits for the disk and for other statements, and nothing waits for a run. */
const TIMEOUT_MS = 12 * 3_600_000;
/**
 * The age at which a month may be written. A retry under an idempotency key may create an attempt
 * with an old id for up to a day.
 */
const MIN_AGE_MS = 7 * 86_400_000;

/** The service's own database, and the seed of the key that signs its receipts. */
export interface ArchiveSettings {
  readonly url: string;
  readonly seed: Buffer;
}

/** A run calls `load` only if it needs the database. */
export interface ArchiveCommand {
  load(): ArchiveSettings;
  /** True if the service's database has no signing keys. */
  readonly needsKeys?: true;
  /** Absent if the service deletes no months. `loadUrl` returns the URL of the archive's role. */
  readonly deletion?: { readonly source: DeletableMonths; readonly steps: MonthDeletion; loadUrl(): string };
}

/** Runs the command, and sets the exit code of the process. */
export async function runArchive(source: MonthSource, command: ArchiveCommand): Promise<void> {
  const option = { type: 'string' } as const;
  const { values } = parseArgs({
    options: {
      before: option,
      to: option,
      delete: option,
      from: option,
      copy: option,
      verify: option,
      keys: option,
      receipt: option,
      attempt: option,
      month: option,
      service: option,
    },
  });
  const { before, to, from, copy, verify, keys, receipt, attempt, month, service = source.service } = values;
  const deleted = values.delete;
  try {
    if (service !== source.service) throw new ArchiveRefusedError(`this is not the archive of ${service}`);
    if (before !== undefined && to !== undefined)
      process.exitCode = await write(before, to, source, {
        ...command.load(),
        ...(command.needsKeys && { keys: await readKeys(keys) }),
      });
    else if (deleted !== undefined && from !== undefined)
      process.exitCode = await deleteFrom(from, {
        name: deleted,
        copy: copy ?? null,
        service: source.service,
        command,
      });
    else if (verify !== undefined && keys !== undefined) process.exitCode = await verifyAlone(verify, keys, source);
    else if (receipt !== undefined && month !== undefined)
      process.exitCode = await printReceipt(receipt.toLowerCase(), month, source);
    else if (attempt !== undefined && month !== undefined)
      process.exitCode = await printAttempt(attempt.toLowerCase(), month, source);
    else {
      console.error(USAGE);
      process.exitCode = 2;
    }
  } catch (error) {
    if (!(error instanceof ArchiveRefusedError)) throw error;
    console.error(`${source.service}: ${error.message}`);
    process.exitCode = 1;
  }
}

async function write(
  before: string,
  root: string,
  source: MonthSource,
  { url, seed, ...listed }: ArchiveSettings & Pick<ArchiveRun, 'keys'>,
) {
  await using database = createDatabase({
    url,
    // One connection holds the lock, the other reads.
    maxConnections: 2,
    applicationName: 'archive',
    statementTimeoutMs: TIMEOUT_MS,
  });
  let months = 0;
  const run: ArchiveRun = { database, source, signer: createSigner(seed), root, ...listed };
  for await (const written of writeMonthsBefore(before, run)) {
    const { month, isNew, rows, bytes } = written;
    const what = isNew ? 'written and verified' : 'was there, verified again';
    console.log(`${source.service} ${month}: ${what}, ${rows} rows, ${bytes} bytes`);
    months += 1;
  }
  if (months === 0) console.log(`${source.service}: has nothing from before ${before}`);
  return 0;
}

/** Writes or verifies each month before the named month, oldest first. */
async function* writeMonthsBefore(
  name: string,
  run: ArchiveRun,
): AsyncGenerator<{ month: string; isNew: boolean; rows: number; bytes: number }> {
  const end = monthOf(name);
  if (end === null) throw new ArchiveRefusedError(`${name} is no month, as 2026-01 is`);
  const present = await archiveInstant(run.database);
  if (isBefore(present, later(end.from, MIN_AGE_MS))) {
    throw new ArchiveRefusedError(`a month is written when it ended ${MIN_AGE_MS / 86_400_000} days ago`);
  }
  const oldest = await run.source.oldest(run.database);
  if (oldest === null) return;
  for (const month of monthsBetween(oldest, end.from)) {
    const { isNew, manifest } = await writeMonth(month, run);
    const of = (size: (file: { rows: number; bytes: number }) => number) =>
      manifest.files.reduce((sum, file) => sum + size(file), 0);
    yield { month: month.name, isNew, rows: of(({ rows }) => rows), bytes: of(({ bytes }) => bytes) };
  }
}

async function deleteFrom(
  root: string,
  {
    name,
    copy,
    service,
    command: { deletion },
  }: {
    readonly name: string;
    readonly copy: string | null;
    readonly service: string;
    readonly command: ArchiveCommand;
  },
): Promise<number> {
  if (deletion === undefined) throw new ArchiveRefusedError('the months of this service cannot be deleted');
  const month = monthOf(name);
  if (month === null) throw new ArchiveRefusedError(`${name} is no month, as 2026-01 is`);
  await using database = createDatabase({
    url: deletion.loadUrl(),
    // One connection holds the lock, the other deletes.
    maxConnections: 2,
    applicationName: 'archive',
    statementTimeoutMs: TIMEOUT_MS,
  });
  const print = (line: string) => console.log(`${service} ${month.name}: ${line}`);
  await deleteMonth(month, { database, source: deletion.source, deletion: deletion.steps, root, copy, print });
  return 0;
}

/** Reads a copy of the list of keys that Laurel publishes. */
async function readKeys(file: string | undefined): Promise<readonly SigningKey[]> {
  if (file === undefined) throw new ArchiveRefusedError('this database has no signing keys: name a list with --keys');
  const list = JSON.parse(await readFile(file, 'utf8')) as {
    keys: Record<'public_key' | 'from' | 'until', string | null>[];
  };
  return list.keys.map(({ public_key: publicKey, from, until }) => ({
    publicKey: Buffer.from(publicKey ?? '', 'base64'),
    from: new Date(from ?? ''),
    until: until === null ? null : new Date(until),
  }));
}

async function verifyAlone(folder: string, file: string, months: ArchivedMonths): Promise<number> {
  const keys = await readKeys(file);
  try {
    const { month, service } = await verifyMonth(folder, { months, keys });
    console.log(`VALID: ${month} of the service ${service}, unchanged since it was signed`);
    return 0;
  } catch (error) {
    console.error(`NOT VALID: ${(error as Error).message}`);
    return 1;
  }
}

async function printReceipt(receiptId: string, folder: string, months: ArchivedMonths): Promise<number> {
  const outcome = await findLine(folder, { months, table: 'outcomes', column: 'receipt_id', id: receiptId });
  if (outcome === null) {
    console.error(`${folder} has no receipt ${receiptId}`);
    return 1;
  }
  process.stdout.write(`{${await receiptMembers(JSON.parse(outcome) as ArchivedRow, folder, months)}}\n`);
  return 0;
}

async function printAttempt(attemptId: string, folder: string, months: ArchivedMonths): Promise<number> {
  const attempt = await findLine(folder, { months, table: 'attempts', column: 'id', id: attemptId });
  if (attempt === null) {
    console.error(`${folder} has no attempt ${attemptId}`);
    return 1;
  }
  const outcome = await findLine(folder, { months, table: 'outcomes', column: 'attempt_id', id: attemptId });
  const receipt = outcome === null ? '' : `,${await receiptMembers(JSON.parse(outcome), folder, months)}`;
  process.stdout.write(`{"attempt":${attempt}${receipt}}\n`);
  return 0;
}

/** Finds the line of a file whose column holds the id; null if no line does. */
async function findLine(
  folder: string,
  { months, table, column, id }: { months: ArchivedMonths; table: string; column: string; id: string },
): Promise<string | null> {
  if (months.tables[table] === undefined) throw new ArchiveRefusedError(`the archive of this service has no ${table}`);
  for await (const text of readLines(join(folder, fileOf(table)))) {
    // The text is searched first, so that most lines need not be parsed.
    if (text.includes(id) && (JSON.parse(text) as ArchivedRow)[column] === id) return text;
  }
  return null;
}

/** Returns the members of a receipt as the API shows them, with the signed texts byte for byte. */
async function receiptMembers(outcome: ArchivedRow, folder: string, months: ArchivedMonths): Promise<string> {
  const seal = await months.sealOf(outcome, rowsIn(folder));
  const signature = bytesOf(outcome.signature).toString('base64');
  return `"receipt":${outcome.receipt},"signature":"${signature}"${seal === null ? '' : `,"seal":${seal}`}`;
}
