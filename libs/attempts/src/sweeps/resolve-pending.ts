/**
 * Resolves attempts that are still `pending`, because their process died or did not write the
 * wallet's decision. If the wallet has not received a fee by the end of the grace, it writes a
 * tombstone, so that the fee can never be posted late. Reads use the same function for pending
 * attempts that they find.
 *
 * The sweep walks attempts by `created_at` and visits each attempt once, so no attempt may appear
 * below the sweep's mark. But a creation takes its `created_at` before it waits for a connection,
 * for locks and for its commit, and no limit bounds these waits together. So there is a low
 * watermark: a statement that begins after the watermark was raised writes no attempt at or below
 * it. The mark advances to the watermark only after a whole walk, and the walk begins only when
 * every transaction that began before the raise has ended. No process's clock is involved.
 *
 * Several replicas may resolve the same attempt: the wallet gives all of them the same result, and
 * the write changes only a pending attempt.
 */

import type { Database } from '@laurel/postgres';
import type { ContestServiceName } from '@laurel/values/ids';
import { firstOf, isBefore, later, millisecondsBetween } from '@laurel/values/instant';
import { ABANDONED_CODE, feeOf } from '../domain/owned-attempt.ts';
import {
  isAnyTransactionOlder,
  type LowWatermark,
  loadPending,
  loadSweepMark,
  type PendingAttempt,
  putSweepMark,
  raiseLowWatermark,
} from '../repository/sweeps.ts';
import type { AttemptOpener } from '../steps/open-attempts.ts';
import type { FeeResolution, Wallet } from '../wallet.ts';

export interface PendingResolver {
  /**
   * Returns the wallet's record of the attempt's fee. `written` resolves with whether the attempt's
   * row states that record too. If the wallet has never received the fee, it writes a tombstone
   * after the grace, or immediately with `evenIfYoung`; the attempt then never opens.
   */
  resolve(
    attempt: PendingAttempt,
    now: Date,
    options?: { readonly evenIfYoung?: boolean },
  ): Promise<{ readonly resolution: FeeResolution; readonly written: Promise<boolean> }>;
  runOnce(now: Date): Promise<void>;
}

/** The grace of a pending attempt, unless the configuration sets another. */
export const DEFAULT_PENDING_GRACE_SECONDS = 60;
const PAGE = 500;
/**
 * How far the low watermark stays behind the present. If a creation takes longer than this to
 * commit, the service decides the creation again.
 */
const LATEST_WRITE_MS = 30_000;

export function createPendingResolver(deps: {
  contestService: ContestServiceName;
  database: Database;
  wallet: Wallet;
  opener: AttemptOpener;
  pendingGraceMs: number;
}): PendingResolver {
  const { contestService, database, wallet, opener, pendingGraceMs } = deps;
  let mark: Date | undefined;
  let lowWatermark: LowWatermark | undefined;

  async function resolve(attempt: PendingAttempt, now: Date, { evenIfYoung = false } = {}) {
    const tombstoneIfAbsent = evenIfYoung || millisecondsBetween(attempt.createdAt, now) >= pendingGraceMs;
    const { environment } = attempt;
    const resolution = await wallet.resolveFee({ ...feeOf(attempt), environment, tombstoneIfAbsent });
    const fee = { attemptId: attempt.id, feeGeneration: attempt.feeGeneration };
    let written = Promise.resolve(true);
    if (resolution.kind === 'posted') written = opener.open(fee);
    if (resolution.kind === 'tombstoned') written = opener.refuse(fee, resolution.refusalCode ?? ABANDONED_CODE);
    return { resolution, written };
  }

  async function sweep(pending: readonly PendingAttempt[], now: Date): Promise<void> {
    const results = await Promise.allSettled(
      pending.map(async (attempt) => {
        const { written } = await resolve(attempt, now);
        if (!(await written)) throw new Error(`what became of attempt ${attempt.id} could not be written`);
      }),
    );
    const failure = results.find((result) => result.status === 'rejected');
    // The mark stays unchanged, so that the next run visits all attempts of this walk again.
    if (failure !== undefined) throw failure.reason;
  }

  return {
    resolve,
    async runOnce(now) {
      const until = later(now, -pendingGraceMs);
      // A local copy, because another run may clear `lowWatermark` meanwhile.
      const raised = lowWatermark;
      const isReached = raised !== undefined && !(await isAnyTransactionOlder(database, raised.raisedAt));
      let from = mark ?? (await loadSweepMark(database, 'resolve_pending'));
      for (;;) {
        const pending = await loadPending(database, contestService, { from, until, limit: PAGE });
        await sweep(pending, now);
        const last = pending.at(-1);
        if (pending.length < PAGE || last === undefined) break;
        from = last.createdAt;
      }
      if (isReached) {
        mark = raised.until;
        if (lowWatermark === raised) lowWatermark = undefined;
        await putSweepMark(database, 'resolve_pending', raised.until);
      }
      const next = firstOf(until, later(now, -LATEST_WRITE_MS));
      if (lowWatermark !== undefined || (mark !== undefined && !isBefore(mark, next))) return;
      lowWatermark = await raiseLowWatermark(database, next, LATEST_WRITE_MS);
    },
  };
}
