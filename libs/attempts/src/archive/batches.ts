/**
 * The batches in which a month is deleted, and the digest of each by the month's files. The
 * database computes the same digest over the rows that it deletes: the SHA-256 of the lines of
 * `attempts`, in the order of their ids, and after them those of `outcomes`, with their line ends.
 */
import { createHash, type Hash } from 'node:crypto';
import { join } from 'node:path';
import { walkRows } from '../domain/archived-rows.ts';
import { readLines } from './lines.ts';
import { fileOf } from './manifest.ts';
import type { Month } from './month.ts';

/** The limits of a transaction that deletes. */
const MAX_ATTEMPTS = 2_000;
const MAX_CHARACTERS = 8 * 2 ** 20;

export interface Batch {
  /** The batch has the ids below this one, from the end of the batch before it. */
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
 * The batches of a month's files, which must have been verified. An earlier run has stored where
 * its batches end; without `storedEnds` they are as large as the limits allow.
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

/** The lines of a file with their line ends, each with the attempt's id in this column. */
async function* linesOf(folder: string, table: string, column: string): AsyncGenerator<{ id: string; line: string }> {
  for await (const text of readLines(join(folder, fileOf(table)))) {
    yield { id: (JSON.parse(text) as Record<string, string>)[column] ?? '', line: `${text}\n` };
  }
}
