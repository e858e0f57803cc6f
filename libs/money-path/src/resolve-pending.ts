/**
 * Finds out what became of attempts that are still `pending`: their process died, or what it knew was not written. Past the grace a fee
 * that the wallet has never heard of is fenced, so that it can never land late. Readers resolve what they meet by the same way.
 *
 * The sweep walks attempts by their `created_at` and comes to each once, so none may appear below its mark. A creation takes that instant
 * before it waits for a connection, for locks and for its commit, and nothing bounds these waits together. So there is a fence, which no
 * attempt passes that is written by a statement that begins later; and the mark follows to it only when a whole walk was begun after
 * every transaction from before the fence had ended. No process's clock has a part in that.
 *
 * Several replicas may resolve the same attempt: the wallet answers both alike, and the write changes a pending attempt only.
 */
import type { Database } from '@laurel/postgres';
import { ABANDONED, feeTransferOf } from './domain/owned-attempt.ts';
import type { AttemptOpener } from './open-attempts.ts';
import {
  type Fence,
  isAnyTransactionOlder,
  loadMark,
  loadPending,
  type PendingAttempt,
  putMark,
  raiseFence,
} from './repository/sweeps.ts';
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
/** The fence stays so far behind the present. A creation that takes longer until it is written is decided again. */
const LATEST_WRITE_MS = 30_000;

export function createPendingResolver(deps: {
  database: Database;
  wallet: Wallet;
  opener: AttemptOpener;
  pendingGraceMs: number;
}): PendingResolver {
  const { database, wallet, opener, pendingGraceMs } = deps;
  let mark: Date | undefined;
  let fence: Fence | undefined;

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
      // Another run may take it down meanwhile.
      const standing = fence;
      const isReached = standing !== undefined && !(await isAnyTransactionOlder(database, standing.standsSince));
      let from = mark ?? (await loadMark(database, 'resolve_pending'));
      for (;;) {
        const pending = await loadPending(database, from, until, PAGE);
        await sweep(pending, now);
        const last = pending.at(-1);
        if (pending.length < PAGE || last === undefined) break;
        from = last.createdAt;
      }
      if (isReached) {
        mark = standing.until;
        if (fence === standing) fence = undefined;
        await putMark(database, 'resolve_pending', standing.until);
      }
      const next = new Date(Math.min(until.getTime(), now.getTime() - LATEST_WRITE_MS));
      if (fence !== undefined || (mark !== undefined && next <= mark)) return;
      fence = await raiseFence(database, next, LATEST_WRITE_MS);
    },
  };
}
