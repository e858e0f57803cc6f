/**
 * The life of an idempotency key around a route: the key is locked before the route runs, and the
 * lock ends with the result.
 *
 * - lock: committed before anything downstream happens, without waiting for the disk. Its operation
 *   id keys every downstream write. The contest service records the key with the operation, so a
 *   lost lock causes no second operation (decision 23). Most idempotency locks are made with the
 *   admission of their request (`admission.ts`); this file makes the others.
 * - complete: a 2xx response is put into the cache as its exact text, then sent, and only then
 *   written to the database (`completions.ts`). So a caller that has the response can get it again
 *   immediately: from this process's cache, or on another replica at its second look.
 * - forget: a refusal frees the key before it is sent.
 * - release: a failure of the gateway frees the key but keeps the operation, which may have
 *   happened.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { LostReplyError } from '@laurel/failpoint';
import { isConnectionFailure } from '@laurel/postgres';
import type { Logger } from '@laurel/service';
import { failpoint } from '../failpoints.ts';
import { batchStatement } from '../repository/batched-statement.ts';
import {
  forgetRecords,
  type IdempotencyLock,
  type IdempotencyUse,
  releaseRecords,
} from '../repository/idempotency-records.ts';
import { type AnsweredRequest, type Completions, createCompletions } from './completions.ts';
import { firstLockOf, type IdempotencyLockOptions, type IdempotencyLockVerdict, lockRecords } from './lock-records.ts';

export interface Idempotency extends AsyncDisposable {
  lock(use: IdempotencyUse): Promise<IdempotencyLockVerdict>;
  /**
   * Called before the response. The response stays valid even if the completion is never written: a
   * later request then takes the key over.
   */
  complete(answered: AnsweredRequest): Promise<void>;
  /** Never rejects for a failed write; neither does `release`. */
  forget(idempotencyLock: IdempotencyLock): Promise<void>;
  release(idempotencyLock: IdempotencyLock): Promise<void>;
  /** Lets the statement of admission carry the completions that wait to be written. */
  readonly carryCompletions: Completions['carry'];
}

/**
 * How long a request waits for its lock. After this time it fails, before anything has happened.
 */
const LOCK_DEADLINE_MS = 5_000;
/**
 * The pause before a key in use is looked up again. It is longer than another replica takes to
 * write the completion of a response that it has sent.
 */
const SECOND_LOOK_MS = 100;

export function createIdempotency(options: IdempotencyLockOptions & { readonly logger: Logger }): Idempotency {
  const { database, logger } = options;
  const completions = createCompletions(options);

  const idempotencyLocks = batchStatement<IdempotencyUse, IdempotencyLockVerdict>('lock_key', async (uses) => {
    await failpoint('gateway.lock.before-commit');
    // After a lost connection it is unknown whether the idempotency locks were committed; asking
    // again finds this process's own.
    const verdicts = await lockRecords(uses, options).catch((error: unknown) => {
      if (!isConnectionFailure(error)) throw error;
      return lockRecords(uses, options);
    });
    await failpoint('gateway.lock.after-commit');
    return verdicts;
  });

  const forgets = batchStatement<IdempotencyLock, undefined>('forget', async (items) => {
    await forgetRecords(database, items);
    return items.map(() => undefined);
  });

  const releases = batchStatement<IdempotencyLock, undefined>('release', async (items) => {
    await releaseRecords(database, items);
    return items.map(() => undefined);
  });

  const tryOnce = async (
    what: string,
    idempotencyLock: IdempotencyLock,
    write: () => Promise<unknown>,
  ): Promise<void> => {
    try {
      await write();
    } catch (error) {
      if (error instanceof LostReplyError) throw error;
      logger.warn({ err: error, what, operationId: idempotencyLock.operationId }, 'an idempotency record stays locked');
    }
  };
  const release = (idempotencyLock: IdempotencyLock) =>
    tryOnce('release', idempotencyLock, () => releases.submit(idempotencyLock));

  const look = async (use: IdempotencyUse): Promise<IdempotencyLockVerdict> => {
    const answered = completions.find(use.recordId);
    if (answered !== undefined) return repeat(answered, use);
    try {
      return await idempotencyLocks.submit(use, { deadlineAt: Date.now() + LOCK_DEADLINE_MS });
    } catch (error) {
      // The insert may have been committed. The lock is released, because the key of a request that
      // did not run should not count as in flight for a minute.
      await release(firstLockOf(use));
      throw error;
    }
  };

  return {
    async lock(use) {
      const verdict = await look(use);
      if (verdict.kind !== 'in_progress') return verdict;
      await sleep(SECOND_LOOK_MS);
      return await look(use);
    },
    complete: (answered) =>
      tryOnce('complete', answered.idempotencyLock, async () => {
        await failpoint('gateway.complete.before-commit');
        completions.add(answered);
      }),
    forget: (idempotencyLock) => tryOnce('forget', idempotencyLock, () => forgets.submit(idempotencyLock)),
    release,
    carryCompletions: completions.carry,
    async [Symbol.asyncDispose]() {
      await Promise.all([idempotencyLocks.drain(), forgets.drain(), releases.drain()]);
      await completions[Symbol.asyncDispose]();
    },
  };
}

/** The verdict on a use of a key for which this process has the response in its cache. */
function repeat({ fingerprint, status, body }: AnsweredRequest, use: IdempotencyUse): IdempotencyLockVerdict {
  return fingerprint === use.fingerprint ? { kind: 'replay', status, body } : { kind: 'reused' };
}
