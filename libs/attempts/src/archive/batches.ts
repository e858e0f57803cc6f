/**
 * The batches in which a month is deleted, each with a digest that is computed from the month's
 * files. The database computes the same digest over the rows that it deletes. The digest is the
 * SHA-256 of the lines of `attempts`, in id order, followed by the lines of `outcomes`, all with
 * their newlines.
 */
import { createHash, type Hash } from 'node:crypto';
import { join } from 'node:path';
import { walkRows } from '../domain/archived-rows.ts';
import { readLines } from './lines.ts';
import { fileOf } from './manifest.ts';
import type { Month } from './month.ts';

/** One transaction deletes at most this many attempts, and about this many characters of lines. */
const MAX_ATTEMPTS = 2_000;
const MAX_CHARACTERS = 8 * 2 ** 20;

export interface Batch {
  /**
   * The batch contains the ids from the end of the previous batch up to this id, which is excluded.
   */
  readonly endId: string;
  readonly attempts: number;
  readonly digest: Buffer;
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
  storedEnds: readonly string[] | null,
): Promise<readonly Batch[]> {
  const batches: Batch[] = [];
  let batch = newBatch();
  const close = (endId: string) => {
    for (const line of batch.outcomes) batch.hash.update(line);
    batches.push({ endId, attempts: batch.attempts, digest: batch.hash.digest() });
    batch = newBatch();
  };
  const isFull = (nextId: string) =>
    storedEnds === null
      ? batch.attempts === MAX_ATTEMPTS || batch.characters >= MAX_CHARACTERS
      : nextId >= (storedEnds[batches.length] ?? month.endId);
  await using outcomes = walkRows(linesOf(folder, 'outcomes', 'attempt_id'));
  for await (const { id, line } of linesOf(folder, 'attempts', 'id')) {
    if (batch.attempts > 0 && isFull(id)) close(id);
    batch.hash.update(line);
    batch.attempts += 1;
    batch.characters += line.length;
    const outcome = await outcomes.takeIf((row) => row.id === id);
    if (outcome === null) continue;
    batch.outcomes.push(String(outcome.line));
    batch.characters += String(outcome.line).length;
  }
  if (batch.attempts > 0) close(month.endId);
  return batches;
}

function newBatch(): OpenBatch {
  return { hash: createHash('sha256'), outcomes: [], attempts: 0, characters: 0 };
}

/**
 * Yields each line of a table's file with its newline, and the attempt id that the column holds.
 */
async function* linesOf(folder: string, table: string, column: string): AsyncGenerator<{ id: string; line: string }> {
  for await (const text of readLines(join(folder, fileOf(table)))) {
    yield { id: (JSON.parse(text) as Record<string, string>)[column] ?? '', line: `${text}\n` };
  }
}
