/**
 * Completions are written after the response. They wait for the next statement that locks keys,
 * which carries them at no extra cost; if none comes, a statement of their own writes them. Until
 * then this process answers from its cache, and other replicas check twice before they answer that
 * a key is in use (`idempotency.ts`).
 *
 * A completion that is lost with its process leaves the key locked. The retry takes the operation
 * over, and gets the result of what the operation did.
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
   * A record's response, while this process has cached it and perhaps no other replica can see it.
   */
  find(recordId: string): AnsweredRequest | undefined;
  /**
   * Runs a statement that also writes the completions passed to it. If it fails, a statement of
   * their own writes them.
   */
  carry<Result>(statement: (completions: readonly Completion[]) => Promise<Result>): Promise<Result>;
}

/**
 * Completions wait at most this long for a statement to carry them. Under load one runs every few
 * milliseconds. Other replicas wait longer than this plus a slow statement before they look again.
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
