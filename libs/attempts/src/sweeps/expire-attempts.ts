/**
 * Ends attempts whose deadline has passed, and refunds fees. One commit ends an attempt and queues
 * its refund. The wallet posts at most one refund per fee. A second commit then writes `expired` or
 * `voided`, removes the refund from the queue and stores the contest service's event of the refund.
 * After a crash at any point the refund is still in the queue, and the next run continues.
 *
 * A contest may have its own work when attempts end. The commit that ends the attempts does this
 * work, under locks that it takes first.
 *
 * Several replicas may work on the same refund. The wallet posts the refund once, and the second
 * replica that records it changes nothing and emits no event.
 */

import { createCoalescer } from '@laurel/coalesce';
import type { Outbox } from '@laurel/events';
import { type Database, isConnectionFailure, type Transaction } from '@laurel/postgres';
import type { Event } from '@laurel/proto/events';
import type { Clock } from '@laurel/service';
import type { ContestServiceName } from '@laurel/values/ids';
import { isBefore, later } from '@laurel/values/instant';
import type { Environment } from '@laurel/values/tenant';
import type { Contest } from '../contest.ts';
import { isDue } from '../domain/attempt-expiry.ts';
import { feeOf, type OwnedAttempt } from '../domain/owned-attempt.ts';
import { refundReasonOf } from '../domain/refund.ts';
import type { RefundReason, RoundReason } from '../domain/refund-reason.ts';
import { failpoint } from '../failpoints.ts';
import { type EndingAttempt, endAttempt, lockAttemptToEnd } from '../repository/attempts.ts';
import { finishRefunds, type RefundDue } from '../repository/refunds-due.ts';
import {
  expireAttemptsBetween,
  findOldestUnended,
  loadIdsDueToExpire,
  loadPending,
  loadSweepMark,
  putSweepMark,
} from '../repository/sweeps.ts';
import type { AttemptOpener } from '../steps/open-attempts.ts';
import type { Wallet } from '../wallet.ts';
import type { PendingResolver } from './resolve-pending.ts';

export interface AttemptExpirer {
  /**
   * Ends the attempt if it is open and its deadline has passed; with `evenIfYoung`, before the
   * deadline too. Queues the refund of the fee with `reason`, by default `expired`; the wallet
   * posts the refund later.
   */
  expire(
    attemptId: string,
    now: Date,
    options?: { readonly evenIfYoung?: boolean; readonly reason?: RoundReason | null },
  ): Promise<void>;
  /**
   * Voids the attempt for an operator, and queues the refund of the fee. False if the attempt is no
   * longer open.
   */
  voidAttempt(attemptId: string, reason: string, now: Date): Promise<boolean>;
  /** Refunds the fee of an attempt that is `expiring` or `voiding`, and records the refund. */
  refund(attempt: OwnedAttempt, environment: Environment): Promise<void>;
  /**
   * Refunds fees that are due, and records the refunds. A refund that fails does not block the
   * others; its error is thrown after them.
   */
  refundAll(due: readonly RefundDue[]): Promise<void>;
  /**
   * Ends the attempts whose deadline has passed, and refunds fees that are due. A failure of one
   * does not keep the other from running; it is thrown after both.
   */
  runOnce(now: Date): Promise<void>;
  drain(): Promise<void>;
}

const PAGE = 500;

export function createAttemptExpirer(deps: {
  contestService: ContestServiceName;
  contest: Pick<Contest, 'refunds' | 'refundEvents' | 'whenEnding'>;
  database: Database;
  wallet: Wallet;
  opener: AttemptOpener;
  resolver: PendingResolver;
  outbox: Outbox;
  attemptTtlMs: number;
  clock: Clock;
}): AttemptExpirer {
  const { contestService, database, wallet, opener, resolver, outbox, attemptTtlMs, clock } = deps;
  const { refunds, refundEvents, whenEnding = null } = deps.contest;
  let mark: Date | undefined;

  const finished = createCoalescer<PostedRefund, void>({
    name: 'finish-refunds',
    isolate: (error) => !isConnectionFailure(error),
    async run(posted) {
      const events = await database.transaction((tx) => finish(tx, posted), {
        beforeCommit: () => failpoint(`${contestService}.refund.before-commit`),
      });
      await failpoint(`${contestService}.refund.after-commit`);
      outbox.publish(events);
      return posted.map(() => undefined);
    },
  });

  async function finish(tx: Transaction, posted: readonly PostedRefund[]): Promise<readonly Event[]> {
    // The map keeps one reason per attempt: two readers of one attempt may post the same refund in
    // one batch.
    const reasons = new Map(posted.map(({ attemptId, reason }) => [attemptId, reason]));
    const done = await finishRefunds(tx, [...reasons.keys()]);
    if (done.size === 0) return [];
    const at = clock();
    const recorded = [...reasons].flatMap(([attemptId, reason]) =>
      done.has(attemptId) ? [{ attemptId, reason, at }] : [],
    );
    const events = await refundEvents(tx, recorded);
    await tx.commitWith((last) => outbox.insert(last, events));
    return events;
  }

  async function end(attemptId: string, now: Date, decide: (attempt: EndingAttempt) => EndOf | null): Promise<boolean> {
    // Waits for a write of `open`: the creation may have its response while the row is still
    // `pending`.
    await opener.written(attemptId);
    const ended = await database.transaction(async (tx) => {
      await whenEnding?.lock(tx, [attemptId]);
      const attempt = await lockAttemptToEnd(tx, attemptId);
      const as = attempt?.status === 'open' ? decide(attempt) : null;
      if (attempt === null || as === null) return false;
      await endAttempt(tx, attemptId, attempt.isPaid ? as.whileRefunding : as.final, as.closedReason);
      if (attempt.isPaid) await refunds.insert(tx, { attemptId, reason: as.refundReason, since: now });
      await whenEnding?.ended(tx, [attemptId]);
      await failpoint(`${contestService}.expiry.before-commit`);
      return true;
    });
    if (ended) await failpoint(`${contestService}.expiry.after-commit`);
    return ended;
  }

  async function refundOne({ reason, environment, ...attempt }: RefundDue): Promise<void> {
    await failpoint(`${contestService}.refund.before-call`);
    await wallet.refundFee({ feeTransferId: feeOf(attempt).transferId, environment, reason });
    await failpoint(`${contestService}.refund.after-call`);
    await finished.submit({ attemptId: attempt.id, reason });
  }

  async function expireAllDue(now: Date): Promise<void> {
    const until = later(now, -attemptTtlMs);
    const from = mark ?? (await loadSweepMark(database, 'expire_attempts'));
    if (isBefore(until, from)) return;
    for (;;) {
      const expired = await database.transaction(async (tx) => {
        const page = await expirePage(tx, from, until, now);
        // A failpoint fires only once, so it must not fire in a sweep that finds no attempt.
        if (page.length > 0) await failpoint(`${contestService}.expiry.before-commit`);
        return page;
      });
      if (expired.length > 0) await failpoint(`${contestService}.expiry.after-commit`);
      if (expired.length < PAGE) break;
    }
    // The mark stays before an attempt that is still pending or is locked now, so that the next run
    // finds it.
    const reached = (await findOldestUnended(database, from, until)) ?? until;
    if (isBefore(reached, until)) await resolvePending(reached, until, now);
    if (mark !== undefined && !isBefore(mark, reached)) return;
    mark = reached;
    await putSweepMark(database, 'expire_attempts', reached);
  }

  async function expirePage(tx: Transaction, from: Date, until: Date, now: Date): Promise<readonly string[]> {
    if (whenEnding === null) return expireAttemptsBetween(tx, contestService, from, until, PAGE, now);
    const due = await loadIdsDueToExpire(tx, from, until, PAGE);
    if (due.length === 0) return due;
    await whenEnding.lock(tx, due);
    const expired = await expireAttemptsBetween(tx, contestService, from, until, PAGE, now, due);
    await whenEnding.ended(tx, expired);
    return expired;
  }

  /** Resolves overdue pending attempts that the sweep in resolve-pending.ts missed. */
  async function resolvePending(from: Date, until: Date, now: Date): Promise<void> {
    for (const attempt of await loadPending(database, contestService, { from, until, limit: PAGE })) {
      const { written } = await resolver.resolve(attempt, now);
      await written;
    }
  }

  async function refundAll(due: readonly RefundDue[]): Promise<void> {
    const results = await Promise.allSettled(due.map(refundOne));
    const failure = results.find((result) => result.status === 'rejected');
    if (failure !== undefined) throw failure.reason;
  }

  return {
    async expire(attemptId, now, { evenIfYoung = false, reason = null } = {}) {
      await end(attemptId, now, (attempt) =>
        evenIfYoung || isDue(attempt.createdAt, attemptTtlMs, now)
          ? { whileRefunding: 'expiring', final: 'expired', closedReason: reason, refundReason: reason ?? 'expired' }
          : null,
      );
    },
    voidAttempt: (attemptId, reason, now) =>
      end(attemptId, now, (attempt) =>
        isDue(attempt.createdAt, attemptTtlMs, now)
          ? null
          : { whileRefunding: 'voiding', final: 'voided', closedReason: reason, refundReason: 'voided' },
      ),
    refund: (attempt, environment) =>
      refundOne({ id: attempt.id, feeGeneration: attempt.feeGeneration, reason: refundReasonOf(attempt), environment }),
    refundAll,
    async runOnce(now) {
      // The next refunds are loaded after the expiry, which queues some, even if the expiry failed.
      const [expiry] = await Promise.allSettled([expireAllDue(now)]);
      const [refund] = await Promise.allSettled([refunds.loadNext(database, PAGE).then(refundAll)]);
      const failures = [expiry, refund].flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
      if (failures.length > 1) throw new AggregateError(failures, 'neither the expiry nor the refunds succeeded');
      if (failures.length > 0) throw failures[0];
    },
    drain: () => finished.drain(),
  };
}

/** A refund that the wallet has posted and the contest service has not recorded. */
type PostedRefund = { readonly attemptId: string; readonly reason: RefundReason };

/**
 * The status in which an attempt ends: while its refund is outstanding, or immediately if it had no
 * fee.
 */
type EndOf = {
  readonly whileRefunding: 'expiring' | 'voiding';
  readonly final: 'expired' | 'voided';
  readonly closedReason: string | null;
  readonly refundReason: RefundReason;
};
