/**
 * Ends attempts whose hour has passed and returns fees. Ending is one commit, which also queues the refund; the wallet posts at most one
 * refund a fee; then a second commit says `expired` or `voided` and clears the queue. A crash anywhere leaves work in the queue.
 *
 * Several replicas may work on the same refund: the wallet posts it once, and the second to record it changes nothing.
 */
import { isDue } from '@laurel/attempt';
import { createCoalescer } from '@laurel/coalesce';
import { failpoint } from '@laurel/failpoint';
import { type Database, isConnectionFailure } from '@laurel/postgres';
import type { Wallet } from '../clients/wallet.ts';
import type { Attempt } from '../domain/challenge.ts';
import { feeTransferOf } from '../domain/fee-transfer.ts';
import { endAttempt, lockAttempts } from '../repository/attempts.ts';
import {
  expireAttemptsBetween,
  finishRefunds,
  insertRefundDue,
  loadMark,
  loadPending,
  loadRefundsDue,
  oldestUnended,
  putMark,
} from '../repository/sweeps.ts';
import type { AttemptOpener } from './open-attempts.ts';
import type { PendingResolver } from './resolve-pending.ts';

export interface AttemptExpirer {
  /** Ends the attempt if it is open, and, unless `evenIfYoung`, if its hour has passed. Returns no fee yet. */
  expire(attemptId: string, now: Date, options?: { readonly evenIfYoung?: boolean }): Promise<void>;
  /** An operator ends the attempt. False when it is not open any more. Returns no fee yet. */
  voidAttempt(attemptId: string, reason: string, now: Date): Promise<boolean>;
  /** Returns the fee of an attempt that is `expiring` or `voiding`, and says so. */
  refund(attempt: Pick<Attempt, 'id' | 'feeGeneration'>, reason: 'expired' | 'voided'): Promise<void>;
  runOnce(now: Date): Promise<void>;
  drain(): Promise<void>;
}

const PAGE = 500;

export function createAttemptExpirer(deps: {
  database: Database;
  wallet: Wallet;
  opener: AttemptOpener;
  resolver: PendingResolver;
  attemptTtlMs: number;
}): AttemptExpirer {
  const { database, wallet, opener, resolver, attemptTtlMs } = deps;
  let mark: Date | undefined;

  const finished = createCoalescer<string, void>({
    name: 'finish-refunds',
    isolate: (error) => !isConnectionFailure(error),
    async run(attemptIds) {
      await database.transaction((tx) => finishRefunds(tx, attemptIds), {
        beforeCommit: () => failpoint('challenge.refund.before-commit'),
      });
      await failpoint('challenge.refund.after-commit');
      return attemptIds.map(() => undefined);
    },
  });

  async function end(attemptId: string, now: Date, decide: (attempt: Attempt) => EndOf | null): Promise<boolean> {
    // Its creator was answered already, and the row may still say `pending` for a moment.
    await opener.written(attemptId);
    const ended = await database.transaction(
      async (tx) => {
        const attempt = (await lockAttempts(tx, [attemptId])).get(attemptId)?.attempt;
        const as = attempt === undefined || attempt.status !== 'open' ? null : decide(attempt);
        if (attempt === undefined || as === null) return false;
        const isPaid = attempt.feeCents > 0n;
        await endAttempt(tx, attemptId, isPaid ? as.whileRefunding : as.final, as.reason);
        if (isPaid) await insertRefundDue(tx, attemptId, now);
        return true;
      },
      { beforeCommit: () => failpoint('challenge.expiry.before-commit') },
    );
    await failpoint('challenge.expiry.after-commit');
    return ended;
  }

  async function refund(attempt: Pick<Attempt, 'id' | 'feeGeneration'>, reason: 'expired' | 'voided'): Promise<void> {
    await failpoint('challenge.refund.before-call');
    await wallet.refundFee({ feeTransferId: feeTransferOf(attempt), reason });
    await failpoint('challenge.refund.after-call');
    await finished.submit(attempt.id);
  }

  async function expireAllDue(now: Date): Promise<void> {
    const until = new Date(now.getTime() - attemptTtlMs);
    const from = mark ?? (await loadMark(database, 'expire_attempts'));
    if (until < from) return;
    for (;;) {
      const expired = await database.transaction((tx) => expireAttemptsBetween(tx, from, until, PAGE, now), {
        beforeCommit: () => failpoint('challenge.expiry.before-commit'),
      });
      await failpoint('challenge.expiry.after-commit');
      if (expired < PAGE) break;
    }
    // An attempt that is still pending, or locked just now, holds the mark back: the next run finds it open.
    const reached = (await oldestUnended(database, from, until)) ?? until;
    if (reached < until) await resolvePending(reached, until, now);
    if (mark !== undefined && reached <= mark) return;
    mark = reached;
    await putMark(database, 'expire_attempts', reached);
  }

  /** The last resort for an attempt that resolve-pending.ts never saw. */
  async function resolvePending(from: Date, until: Date, now: Date): Promise<void> {
    for (const attempt of await loadPending(database, from, until, PAGE)) {
      const { written } = await resolver.resolve(attempt, now);
      await written;
    }
  }

  async function refundAllDue(): Promise<void> {
    const due = await loadRefundsDue(database, PAGE);
    const results = await Promise.allSettled(due.map((attempt) => refund(attempt, attempt.reason)));
    const failure = results.find((result) => result.status === 'rejected');
    if (failure !== undefined) throw failure.reason;
  }

  return {
    async expire(attemptId, now, { evenIfYoung = false } = {}) {
      await end(attemptId, now, (attempt) =>
        evenIfYoung || isDue(attempt.createdAt, attemptTtlMs, now)
          ? { whileRefunding: 'expiring', final: 'expired', reason: null }
          : null,
      );
    },
    voidAttempt: (attemptId, reason, now) =>
      end(attemptId, now, (attempt) =>
        isDue(attempt.createdAt, attemptTtlMs, now) ? null : { whileRefunding: 'voiding', final: 'voided', reason },
      ),
    refund,
    async runOnce(now) {
      await expireAllDue(now);
      await refundAllDue();
    },
    drain: () => finished.drain(),
  };
}

/** How an attempt ends: with its fee on the way back, or at once where there was none. */
type EndOf = {
  readonly whileRefunding: 'expiring' | 'voiding';
  readonly final: 'expired' | 'voided';
  readonly reason: string | null;
};
