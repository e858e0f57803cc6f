/**
 * The batches in which a month is deleted, each with a digest that is computed from the month's
 * files. The database computes the same digest over the rows that it deletes. The digest is the
 * SHA-256 of the lines of `attempts`, in the order of their file, followed by the lines of
 * `outcomes`, all with their newlines.
 */
import { createHash, type Hash } from 'node:crypto';
import { join } from 'node:path';
import { type ArchivedRow, walkRows } from '../domain/archived-rows.ts';
import { readLines } from './lines.ts';
import { fileOf } from './manifest.ts';
import type { Month } from './month.ts';

/** One transaction deletes about this many attempts, or about this many characters of lines. */
const MAX_ATTEMPTS = 2_000;
const MAX_CHARACTERS = 8 * 2 ** 20;

export interface Batch {
  /**
   * The batch contains the attempts from the end of the previous batch up to this key, which is
   * excluded.
   */
  readonly endKey: string;
  readonly attempts: number;
  readonly digest: Buffer;
}

/** Where the batches of a service may end. The text of a key sorts as the file of attempts does. */
export interface BatchKeys {
  /** Attempts with one key are of one batch. */
  keyOf(attempt: ArchivedRow): string;
  /** A key above every key of the month. */
  endOf(month: Month): string;
}

interface OpenBatch {
  readonly hash: Hash;
  readonly outcomes: string[];
  attempts: number;
  characters: number;
}

/**
 * Returns the batches of a month's files, which must have been verified. `storedEnds` are the ends
 * that an earlier run stored; without them each batch is as large as the limits allow.
 */
export async function digestBatches(
  folder: string,
  month: Month,
  { keys, storedEnds }: { readonly keys: BatchKeys; readonly storedEnds: readonly string[] | null },
): Promise<readonly Batch[]> {
  const batches: Batch[] = [];
  let batch = newBatch();
  let lastKey = '';
  const close = (endKey: string) => {
    for (const line of batch.outcomes) batch.hash.update(line);
    batches.push({ endKey, attempts: batch.attempts, digest: batch.hash.digest() });
    batch = newBatch();
  };
  const isFull = (nextKey: string) =>
    storedEnds === null
      ? nextKey !== lastKey && (batch.attempts >= MAX_ATTEMPTS || batch.characters >= MAX_CHARACTERS)
      : nextKey >= (storedEnds[batches.length] ?? keys.endOf(month));
  await using outcomes = walkRows(linesOf(folder, 'outcomes'));
  for await (const { row, line } of linesOf(folder, 'attempts')) {
    const key = keys.keyOf(row);
    if (batch.attempts > 0 && isFull(key)) close(key);
    lastKey = key;
    batch.hash.update(line);
    batch.attempts += 1;
    batch.characters += line.length;
    const outcome = await outcomes.takeIf((one) => (one.row as ArchivedRow).attempt_id === row.id);
    if (outcome === null) continue;
    batch.outcomes.push(String(outcome.line));
    batch.characters += String(outcome.line).length;
  }
  if (batch.attempts > 0) close(keys.endOf(month));
  return batches;
}

function newBatch(): OpenBatch {
  return { hash: createHash('sha256'), outcomes: [], attempts: 0, characters: 0 };
}

/** Yields each line of a table's file with its newline, and as the row that it contains. */
async function* linesOf(folder: string, table: string): AsyncGenerator<{ row: ArchivedRow; line: string }> {
  for await (const text of readLines(join(folder, fileOf(table)))) {
    yield { row: JSON.parse(text) as ArchivedRow, line: `${text}\n` };
  }
}
