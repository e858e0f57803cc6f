/**
 * Completions are written after the response. They wait for the next statement that locks keys,
 * which writes them too at no extra cost. If no such statement comes, a separate statement writes
 * them. Until they are written, this process answers from its cache, and other replicas look twice
 * before they answer that a key is in use (`idempotency.ts`).
 *
 * A completion that is lost with its process leaves the key locked. A retry takes the operation
 * over, and gets the result that the operation had.
 */

import type { Database } from '@laurel/postgres';
import type { Logger } from '@laurel/service';
import { failpoint } from '../failpoints.ts';
import { type Completion, completeRecords } from '../repository/idempotency-records.ts';

/** A completion, with the fingerprint that the idempotency key is bound to. */
export interface AnsweredRequest extends Completion {
  /** SHA-256 of the request, hexadecimal. */
  readonly fingerprint: string;
}

export interface Completions extends AsyncDisposable {
  add(answered: AnsweredRequest): void;
  /**
   * The response of a record, while it is in the cache of this process and may not be written yet.
   */
  find(recordId: string): AnsweredRequest | undefined;
  /**
   * Runs a statement, which must also write the completions that it is given. If it fails, a
   * separate statement writes them.
   */
  carry<Result>(statement: (completions: readonly Completion[]) => Promise<Result>): Promise<Result>;
}

/**
 * Completions wait at most this long for a statement to carry them. Under load such a statement
 * runs every few milliseconds. Before their second look, other replicas wait longer than this time
 * and a slow statement together.
 */
const LINGER_MS = 20;

export function createCompletions({ database, logger }: { database: Database; logger: Logger }): Completions {
  const unwritten = new Map<string, AnsweredRequest>();
  const writing = new Set<Promise<void>>();
  let waiting: AnsweredRequest[] = [];
  let timer: NodeJS.Timeout | undefined;

  const take = (): readonly AnsweredRequest[] => {
    clearTimeout(timer);
    timer = undefined;
    const completions = waiting;
    waiting = [];
    return completions;
  };

  const track = (completions: readonly AnsweredRequest[], write: Promise<unknown>): void => {
    const tracked = write
      .then(() => failpoint('gateway.complete.after-commit'))
      .catch((error: unknown) => {
        logger.warn({ err: error, completions: completions.length }, 'idempotency records stay locked');
      })
      .finally(() => {
        for (const completion of completions) {
          const { recordId } = completion.idempotencyLock;
          if (unwritten.get(recordId) === completion) unwritten.delete(recordId);
        }
        writing.delete(tracked);
      });
    writing.add(tracked);
  };

  const writeAlone = (): void => {
    const completions = take();
    if (completions.length > 0) track(completions, completeRecords(database, completions));
  };

  return {
    add(answered) {
      unwritten.set(answered.idempotencyLock.recordId, answered);
      waiting.push(answered);
      timer ??= setTimeout(writeAlone, LINGER_MS);
    },
    find: (recordId) => unwritten.get(recordId),
    carry(statement) {
      const carried = take();
      const sent = statement(carried);
      if (carried.length > 0)
        track(
          carried,
          sent.catch(() => completeRecords(database, carried)),
        );
      return sent;
    },
    async [Symbol.asyncDispose]() {
      writeAlone();
      await Promise.all(writing);
    },
  };
}
