/**
 * Verifies a written month from its files alone: nothing is asked of the database, so that a copy
 * can be verified anywhere, with the list of keys that Laurel publishes.
 */
import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { keyIdOf } from '@laurel/signature';
import type { SigningKey } from '../repository/signing-keys.ts';
import { countLines, digestFile, type Line, readLines } from './lines.ts';
import { type ArchivedFile, fileOf, MANIFEST_FILE, type Manifest, type Total, verifyManifest } from './manifest.ts';

/** A row of a file, as PostgreSQL prints it. */
export type ArchivedRow = Readonly<Record<string, unknown>>;

/** What a service knows about its files. */
export interface ArchivedTables {
  /** The tables, each with the column that orders its file. */
  readonly keys: Readonly<Record<string, string>>;
  /** Whether a table has rows of the month alone, by that column, which no longer change. */
  isOfMonth(table: string): boolean;
  /** Finds contradictions between the files, and adds up their totals. */
  inspect(rows: (table: string) => AsyncIterable<ArchivedRow>, receipts: ReceiptVerifier): Promise<readonly Total[]>;
}

/** Returns the manifest. Throws at the first contradiction, and says which. */
export async function verifyMonth(
  folder: string,
  { tables, keys }: { readonly tables: ArchivedTables; readonly keys: readonly SigningKey[] },
): Promise<Manifest> {
  const manifest = verifyManifest(await readFile(join(folder, MANIFEST_FILE), 'utf8'), keys);
  const names = manifest.files.map(({ table }) => table).sort();
  if (names.join() !== Object.keys(tables.keys).sort().join())
    throw new Error(`the files are of the tables ${names.join()}`);
  for (const file of manifest.files) {
    if (file.name !== fileOf(file.table)) throw new Error(`${file.table} is in ${file.name}`);
    await verifyFile(folder, file, tables.keys[file.table] ?? '');
    const { firstKey, lastKey } = file;
    if (!tables.isOfMonth(file.table) || firstKey === null || lastKey === null) continue;
    if (firstKey < manifest.least_id || lastKey >= manifest.end_id) throw new Error(`${file.name} leaves its month`);
  }
  const totals = await tables.inspect((table) => rowsOf(folder, manifest, table), createReceiptVerifier(keys));
  if (textOf(totals) !== textOf(manifest.totals)) {
    throw new Error(`the files add up to ${textOf(totals)}, and the manifest says ${textOf(manifest.totals)}`);
  }
  return manifest;
}

async function verifyFile(folder: string, file: ArchivedFile, column: string): Promise<void> {
  const path = join(folder, file.name);
  const { bytes, sha256 } = await digestFile(path);
  if (bytes !== file.bytes || sha256 !== file.sha256) throw new Error(`${file.name} is not the file that was written`);
  let last: unknown = null;
  const counted = await countLines(
    (async function* () {
      for await (const text of readLines(path)) {
        const key = (JSON.parse(text) as ArchivedRow)[column];
        if (last !== null && !isAbove(key, last)) throw new Error(`${file.name} is not in the order of ${column}`);
        last = key;
        yield [{ key: String(key), json: text } satisfies Line];
      }
    })(),
  );
  for (const name of ['rows', 'firstKey', 'lastKey', 'linesSha256'] as const) {
    if (counted[name] !== file[name]) throw new Error(`${file.name}: ${name} is ${counted[name]}, not ${file[name]}`);
  }
}

/** Ids are in the order of their text, as PostgreSQL orders uuids; others are numbers. */
function isAbove(key: unknown, last: unknown): boolean {
  return typeof key === 'number' && typeof last === 'number' ? key > last : String(key) > String(last);
}

async function* rowsOf(folder: string, manifest: Manifest, table: string): AsyncGenerator<ArchivedRow> {
  const file = manifest.files.find((one) => one.table === table);
  if (file === undefined) throw new Error(`there is no file of ${table}`);
  for await (const text of readLines(join(folder, file.name))) yield JSON.parse(text) as ArchivedRow;
}

/** The totals in one order. */
function textOf(totals: readonly Total[]): string {
  return JSON.stringify(
    totals
      .map(({ table, environment, status, rows, cents }) => [table, environment, status, rows, cents].join(' '))
      .sort(),
  );
}

/** Verifies receipts by the keys in the file of `signing_keys`, each of which must be listed. */
export interface ReceiptVerifier {
  /** A row of `signing_keys`. Throws if the key is not listed. */
  put(row: ArchivedRow): void;
  /** Whether a row of `outcomes` has the signature of its key. */
  isGenuine(row: ArchivedRow): boolean;
}

function createReceiptVerifier(keys: readonly SigningKey[]): ReceiptVerifier {
  const listed = new Set(keys.map(({ publicKey }) => keyIdOf(publicKey)));
  const byId = new Map<number, KeyObject>();
  return {
    put(row) {
      const publicKey = bytesOf(row.public_key);
      if (!listed.has(keyIdOf(publicKey))) throw new Error(`the signing key ${row.id} is not among the listed keys`);
      byId.set(Number(row.id), createPublicKey({ key: publicKey, format: 'der', type: 'spki' }));
    },
    isGenuine(row) {
      const key = byId.get(Number(row.signing_key_id));
      return key !== undefined && verify(null, Buffer.from(String(row.receipt), 'utf8'), key, bytesOf(row.signature));
    },
  };
}

/** A `bytea` as PostgreSQL prints it in JSON. */
function bytesOf(printed: unknown): Buffer {
  return Buffer.from(String(printed).slice(2), 'hex');
}

/** The signed text of a receipt and its signature; null if the month has none of this id. */
export async function findArchivedReceipt(
  folder: string,
  receiptId: string,
): Promise<{ readonly receipt: string; readonly signature: Buffer } | null> {
  for await (const text of readLines(join(folder, fileOf('outcomes')))) {
    // Most lines need not be parsed.
    if (!text.includes(receiptId)) continue;
    const row = JSON.parse(text) as ArchivedRow;
    if (row.receipt_id === receiptId) return { receipt: String(row.receipt), signature: bytesOf(row.signature) };
  }
  return null;
}
