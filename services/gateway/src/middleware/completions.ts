/**
 * Completions are written behind the answer. They wait for the next statement that claims, which carries them for nothing; when none
 * comes, they go by themselves. Until then this process answers from memory, and other replicas look twice before they say that a key is
 * in use (`idempotency.ts`).
 *
 * One that is lost with its process leaves the key claimed: its retry takes the operation over, and is answered what the operation did.
 */
import { failpoint } from '@laurel/failpoint';
import type { Database } from '@laurel/postgres';
import type { Logger } from '@laurel/service';
import { type Completion, completeRecords } from '../repository/idempotency-records.ts';

/** A completion, with what the key is bound to. */
export interface Answered extends Completion {
  /** SHA-256 of the request, hexadecimal. */
  readonly fingerprint: string;
}

export interface Completions extends AsyncDisposable {
  add(answered: Answered): void;
  /** The answer of a record, while it is known here and perhaps nowhere else. */
  find(recordId: string): Answered | undefined;
  /** Runs a statement that also writes the completions that it is given. When it fails, they are written by themselves. */
  carry<Result>(statement: (completions: readonly Completion[]) => Promise<Result>): Promise<Result>;
}

/** Under load a statement comes along every few milliseconds. Other replicas wait longer than this, and than a slow statement. */
const LINGER_MS = 20;

export function createCompletions({ database, logger }: { database: Database; logger: Logger }): Completions {
  const unwritten = new Map<string, Answered>();
  const writing = new Set<Promise<void>>();
  let waiting: Answered[] = [];
  let timer: NodeJS.Timeout | undefined;

  const take = (): readonly Answered[] => {
    clearTimeout(timer);
    timer = undefined;
    const taken = waiting;
    waiting = [];
    return taken;
  };

  const track = (completions: readonly Answered[], write: Promise<unknown>): void => {
    const tracked = write
      .then(() => failpoint('gateway.complete.after-commit'))
      .catch((error: unknown) => {
        logger.warn({ err: error, completions: completions.length }, 'idempotency records stay claimed');
      })
      .finally(() => {
        for (const completion of completions) {
          const { recordId } = completion.claim;
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
      unwritten.set(answered.claim.recordId, answered);
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
