/**
 * Verifies a written month from its files alone. It reads no database, so that a copy can be
 * verified anywhere with the list of keys that Laurel publishes.
 */
import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Statement } from '@laurel/postgres';
import { keyIdOf } from '@laurel/signature';
import {
  type ArchivedRow,
  type ArchivedRowsOf,
  bytesOf,
  type SignatureVerifier,
  type Total,
} from '../domain/archived-rows.ts';
import type { SigningKey } from '../repository/signing-keys.ts';
import { countLines, digestFile, type Line, readLines } from './lines.ts';
import { type ArchivedFile, fileOf, MANIFEST_FILE, type Manifest, verifyManifest } from './manifest.ts';
import { type Month, monthBefore, monthOf } from './month.ts';

/** A table of the archive. */
export interface ArchivedTable {
  /**
   * The columns of the table's key. The key of a line is the text of these columns, joined by
   * spaces.
   */
  readonly key: readonly string[];
  /**
   * True if the file has the order of another file; then `inspect` has to find lines that are out
   * of order. Otherwise the file is in key order, and `verifyMonth` checks that.
   */
  readonly followsAnother?: true;
  /**
   * True for a table that is written whole into each month. Rows of such a table may change later,
   * so later runs do not compare them with the database.
   */
  readonly isOfEachMonth?: true;
  /** Opens the cursor over the table's lines (repository/archive.ts). */
  readonly declare: Statement;
}

/** How a service inspects its own files. */
export interface ArchivedMonths {
  readonly service: string;
  readonly tables: Readonly<Record<string, ArchivedTable>>;
  /**
   * Adds up the totals. Throws at the first row of another month, and at the first contradiction
   * between the files.
   */
  inspect(month: Month, rows: ArchivedRowsOf, signatures: SignatureVerifier): Promise<readonly Total[]>;
  /**
   * Throws if the files contradict those of the month before. Absent if no row of a month continues
   * a row of another.
   */
  inspectAfter?(previous: ArchivedRowsOf, rows: ArchivedRowsOf): Promise<void>;
  /**
   * Finds the seal that proves the receipt of an outcome in the files, as JSON; null if there is no
   * seal.
   */
  sealOf(outcome: ArchivedRow, rows: ArchivedRowsOf): Promise<string | null>;
}

/**
 * Returns the manifest. Throws at the first contradiction, and names it in the message. A folder of
 * the month before beside this one must have been verified too.
 */
export async function verifyMonth(
  folder: string,
  { months, keys }: { readonly months: ArchivedMonths; readonly keys: readonly SigningKey[] },
): Promise<Manifest> {
  const manifest = verifyManifest(await readFile(join(folder, MANIFEST_FILE), 'utf8'), keys);
  const month = monthOf(manifest.month);
  if (manifest.service !== months.service || month === null) {
    throw new Error(`this is ${manifest.month} of the service ${manifest.service}`);
  }
  const names = manifest.files.map(({ table }) => table).sort();
  if (names.join() !== Object.keys(months.tables).sort().join())
    throw new Error(`the files are of the tables ${names.join()}`);
  for (const file of manifest.files) {
    if (file.name !== fileOf(file.table)) throw new Error(`${file.table} is in ${file.name}`);
    await verifyFile(folder, file, months.tables[file.table]);
  }
  const totals = await months.inspect(month, rowsIn(folder), createSignatureVerifier(keys));
  if (textOf(totals) !== textOf(manifest.totals)) {
    throw new Error(`the files add up to ${textOf(totals)}, and the manifest says ${textOf(manifest.totals)}`);
  }
  const previous = join(dirname(folder), monthBefore(month).name);
  if (months.inspectAfter !== undefined && existsSync(previous)) {
    await months.inspectAfter(rowsIn(previous), rowsIn(folder));
  }
  return manifest;
}

async function verifyFile(folder: string, file: ArchivedFile, table: ArchivedTable | undefined): Promise<void> {
  const { key: columns = [], followsAnother = false } = table ?? {};
  const path = join(folder, file.name);
  const { bytes, sha256 } = await digestFile(path);
  if (bytes !== file.bytes || sha256 !== file.sha256) throw new Error(`${file.name} is not the file that was written`);
  let last: readonly unknown[] | null = null;
  const counted = await countLines(
    (async function* () {
      for await (const text of readLines(path)) {
        const row = JSON.parse(text) as ArchivedRow;
        const key = columns.map((column) => row[column]);
        if (!followsAnother && last !== null && !isAbove(key, last)) {
          throw new Error(`${file.name} is not in the order of ${columns.join()}`);
        }
        last = key;
        yield [{ key: key.join(' '), json: text } satisfies Line];
      }
    })(),
  );
  for (const name of ['rows', 'firstKey', 'lastKey', 'linesSha256'] as const) {
    if (counted[name] !== file[name]) throw new Error(`${file.name}: ${name} is ${counted[name]}, not ${file[name]}`);
  }
}

/** Compares texts by their bytes, because PostgreSQL orders uuids and `collate "C"` texts so. */
function isAbove(key: readonly unknown[], last: readonly unknown[]): boolean {
  for (const [at, value] of key.entries()) {
    const before = last[at];
    if (value === before) continue;
    if (typeof value === 'number' && typeof before === 'number') return value > before;
    return Buffer.compare(Buffer.from(String(value)), Buffer.from(String(before))) > 0;
  }
  return false;
}

/** Reads the rows of a month's files, which must have been verified. */
export function rowsIn(folder: string): ArchivedRowsOf {
  return async function* (table) {
    for await (const text of readLines(join(folder, fileOf(table)))) yield JSON.parse(text) as ArchivedRow;
  };
}

/** Returns the totals as text in a fixed order, so that equal totals give equal text. */
function textOf(totals: readonly Total[]): string {
  return JSON.stringify(
    totals
      .map(({ table, environment, status, rows, cents }) => [table, environment, status, rows, cents].join(' '))
      .sort(),
  );
}

function createSignatureVerifier(keys: readonly SigningKey[]): SignatureVerifier {
  const listed = new Set(keys.map(({ publicKey }) => keyIdOf(publicKey)));
  const byId = new Map<number, KeyObject>();
  return {
    put(row) {
      const publicKey = bytesOf(row.public_key);
      if (!listed.has(keyIdOf(publicKey))) throw new Error(`the signing key ${row.id} is not among the listed keys`);
      byId.set(Number(row.id), createPublicKey({ key: publicKey, format: 'der', type: 'spki' }));
    },
    isGenuine(row, column) {
      const key = byId.get(Number(row.signing_key_id));
      return key !== undefined && verify(null, Buffer.from(String(row[column]), 'utf8'), key, bytesOf(row.signature));
    },
  };
}
