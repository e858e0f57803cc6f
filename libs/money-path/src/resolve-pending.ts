/**
 * Finds out what became of attempts that are still `pending`: their process died, or what it knew was not written. Past the grace a fee
 * that the wallet has never heard of is fenced, so that it can never land late. Readers resolve what they meet by the same way.
 *
 * Several replicas may resolve the same attempt: the wallet answers both alike, and the write changes a pending attempt only.
 */
import type { Database } from '@laurel/postgres';
import { ABANDONED, feeTransferOf } from './domain/owned-attempt.ts';
import type { AttemptOpener } from './open-attempts.ts';
import { loadMark, loadPending, type PendingAttempt, putMark } from './repository/sweeps.ts';
import type { FeeResolution, Wallet } from './wallet.ts';

export interface PendingResolver {
  /**
   * What the wallet knows of the attempt's fee; `written` says whether the attempt says so too. A fee that it has never heard of is
   * fenced past the grace, or, with `evenIfYoung`, at once: then the attempt never comes to be.
   */
  resolve(
    attempt: PendingAttempt,
    now: Date,
    options?: { readonly evenIfYoung?: boolean },
  ): Promise<{ readonly resolution: FeeResolution; readonly written: Promise<boolean> }>;
  runOnce(now: Date): Promise<void>;
}

const PAGE = 500;
// Hardly an attempt commits later than this after its `created_at`, which is taken before it waits for a connection, its player's lock and
// its statements; each of them gives up after 10 s. So none appears behind the mark, which stays at least this far behind the present. One
// that did, and was then left `pending`, would be found when its hour has passed (expire-attempts.ts).
const LATEST_COMMIT_MS = 30_000;

export function createPendingResolver(deps: {
  database: Database;
  wallet: Wallet;
  opener: AttemptOpener;
  pendingGraceMs: number;
}): PendingResolver {
  const { database, wallet, opener, pendingGraceMs } = deps;
  let mark: Date | undefined;

  async function resolve(attempt: PendingAttempt, now: Date, { evenIfYoung = false } = {}) {
    const fenceIfAbsent = evenIfYoung || now.getTime() - attempt.createdAt.getTime() >= pendingGraceMs;
    const resolution = await wallet.resolveFee({ transferId: feeTransferOf(attempt), fenceIfAbsent });
    const fee = { attemptId: attempt.id, feeGeneration: attempt.feeGeneration };
    let written = Promise.resolve(true);
    if (resolution.kind === 'posted') written = opener.open(fee);
    if (resolution.kind === 'fenced') written = opener.refuse(fee, resolution.refusalCode ?? ABANDONED);
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
    // The mark stays, so that the next run comes back to all of them.
    if (failure !== undefined) throw failure.reason;
  }

  return {
    resolve,
    async runOnce(now) {
      const until = new Date(now.getTime() - pendingGraceMs);
      let from = mark ?? (await loadMark(database, 'resolve_pending'));
      for (;;) {
        const pending = await loadPending(database, from, until, PAGE);
        await sweep(pending, now);
        const last = pending.at(-1);
        if (pending.length < PAGE || last === undefined) break;
        from = last.createdAt;
      }
      const reached = new Date(until.getTime() - Math.max(0, LATEST_COMMIT_MS - pendingGraceMs));
      if (mark !== undefined && reached <= mark) return;
      mark = reached;
      await putMark(database, 'resolve_pending', reached);
    },
  };
}
