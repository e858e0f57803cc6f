/**
 * The life of an idempotency key around a route: claim before it runs, and say how it ended.
 *
 * - claim: durable before anything downstream happens. Its operation id keys every downstream write. Most claims are made with the
 *   admission of their request (`admission.ts`); this is the way of the others.
 * - complete: a 2xx is kept as the exact text that is sent, before it is sent, and written behind it (`completions.ts`): a caller that
 *   has an answer can replay it at once, here from memory, elsewhere at the second look.
 * - forget: a refusal frees the key before it is sent.
 * - release: a failure of ours frees the key but keeps the operation, which may have happened.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { failpoint, LostReplyError } from '@laurel/failpoint';
import { isConnectionFailure } from '@laurel/postgres';
import type { Logger } from '@laurel/service';
import { batchStatement } from '../repository/batched-statement.ts';
import { type Claim, forgetRecords, type KeyUse, releaseRecords } from '../repository/idempotency-records.ts';
import { type ClaimOptions, type ClaimVerdict, claimRecords, firstClaimOf } from './claim-records.ts';
import { type Answered, type Completions, createCompletions } from './completions.ts';

export interface Idempotency extends AsyncDisposable {
  claim(use: KeyUse): Promise<ClaimVerdict>;
  /** Before the answer. Should it never be written, the answer is true all the same, and the key is taken over later. */
  complete(answered: Answered): Promise<void>;
  /** Never rejects for a failed write, and neither does `release`. */
  forget(claim: Claim): Promise<void>;
  release(claim: Claim): Promise<void>;
  /** For the statement of admission, which carries what waits to be written. */
  readonly carryCompletions: Completions['carry'];
}

/** After it the request fails before anything happened. */
const CLAIM_DEADLINE_MS = 5_000;
/** The other replica may have answered and be about to write it down: longer than that takes. */
const SECOND_LOOK_MS = 100;

export function createIdempotency(options: ClaimOptions & { readonly logger: Logger }): Idempotency {
  const { database, logger } = options;
  const completions = createCompletions(options);

  const claims = batchStatement<KeyUse, ClaimVerdict>('claim', async (uses) => {
    await failpoint('gateway.claim.before-commit');
    // A lost connection leaves open whether the claims were committed; asking again finds our own.
    const verdicts = await claimRecords(uses, options).catch((error: unknown) => {
      if (!isConnectionFailure(error)) throw error;
      return claimRecords(uses, options);
    });
    await failpoint('gateway.claim.after-commit');
    return verdicts;
  });

  const forgets = batchStatement<Claim, undefined>('forget', async (items) => {
    await forgetRecords(database, items);
    return items.map(() => undefined);
  });

  const releases = batchStatement<Claim, undefined>('release', async (items) => {
    await releaseRecords(database, items);
    return items.map(() => undefined);
  });

  const attempt = async (what: string, claim: Claim, write: () => Promise<unknown>): Promise<void> => {
    try {
      await write();
    } catch (error) {
      if (error instanceof LostReplyError) throw error;
      logger.warn({ err: error, what, operationId: claim.operationId }, 'an idempotency record stays claimed');
    }
  };
  const release = (claim: Claim) => attempt('release', claim, () => releases.submit(claim));

  const look = async (use: KeyUse): Promise<ClaimVerdict> => {
    const answered = completions.find(use.recordId);
    if (answered !== undefined) return repeat(answered, use);
    try {
      return await claims.submit(use, { deadlineAt: Date.now() + CLAIM_DEADLINE_MS });
    } catch (error) {
      // The insert may have been committed. A key that did not get to run should not be in flight for a minute.
      await release(firstClaimOf(use));
      throw error;
    }
  };

  return {
    async claim(use) {
      const verdict = await look(use);
      if (verdict.kind !== 'in_progress') return verdict;
      await sleep(SECOND_LOOK_MS);
      return await look(use);
    },
    complete: (answered) =>
      attempt('complete', answered.claim, async () => {
        await failpoint('gateway.complete.before-commit');
        completions.add(answered);
      }),
    forget: (claim) => attempt('forget', claim, () => forgets.submit(claim)),
    release,
    carryCompletions: completions.carry,
    async [Symbol.asyncDispose]() {
      await Promise.all([claims.drain(), forgets.drain(), releases.drain()]);
      await completions[Symbol.asyncDispose]();
    },
  };
}

/** What a use gets whose key was answered a moment ago. */
function repeat({ fingerprint, status, body }: Answered, use: KeyUse): ClaimVerdict {
  return fingerprint === use.fingerprint ? { kind: 'replay', status, body } : { kind: 'reused' };
}
