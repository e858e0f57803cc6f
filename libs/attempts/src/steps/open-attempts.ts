/**
 * Writes `pending -> open` and `pending -> refused` after the response to the call. The wallet's
 * row has decided and can be read again. So these commits do not wait for fsync, and a response
 * waits for them only if the contest requires it. The sweeper repairs what a crash loses here
 * (resolve-pending.ts).
 *
 * A contest may have work to do when an attempt opens. The commit that opens the attempt does this
 * work in the same round trip, whichever call opens the attempt. A later call sends the work again,
 * which then changes nothing. An outcome that settled an attempt directly from `pending` would skip
 * the work, so the outcome waits (`isAwaited`). The response to the creation waits too, so that a
 * later read, on any replica, finds the work done.
 *
 * Without such work no call waits for the `open` of a creation, so the write is delayed. One
 * statement writes `open` for all attempts of one pause, except attempts that an outcome has
 * settled by then. Another process that reads such an attempt meanwhile asks the wallet.
 */
import { createCoalescer } from '@laurel/coalesce';
import { type Database, isConnectionFailure } from '@laurel/postgres';
import type { Logger } from '@laurel/service';
import type { ContestServiceName } from '@laurel/values/ids';
import { failpoint } from '../failpoints.ts';
import { type FeeOf, openAttempts, refuseAttempts, type WhenOpened } from '../repository/attempts.ts';

export interface AttemptOpener {
  /**
   * Writes `open`: the wallet posted the fee. Resolves with whether `open` was written; never
   * rejects.
   */
  open(fee: FeeOf): Promise<boolean>;
  /**
   * Does what `open` does, for a creation: writes immediately if the contest has work to do, else
   * after a pause.
   */
  openCreated(fee: FeeOf): Promise<boolean>;
  /**
   * Writes `refused`: the wallet will never post the fee. Resolves with whether `refused` was
   * written; never rejects.
   */
  refuse(fee: FeeOf, code: string): Promise<boolean>;
  /** Cancels a delayed `open`: an outcome has settled the attempt. */
  settled(attemptId: string): void;
  /** Whether the fee is known to be posted although the row may still be `pending`. */
  isKnownPosted(attemptId: string): boolean;
  /**
   * Resolves once no write of `open` for the attempt is in flight or delayed. Callers that need an
   * `open` row wait for it.
   */
  written(attemptId: string): Promise<unknown>;
  /**
   * True if the contest has work to do when an attempt opens: then outcomes and responses to
   * creations wait for the write.
   */
  readonly isAwaited: boolean;
  /** Writes what was delayed, and waits for all writes in flight. */
  drain(): Promise<void>;
}

type Verdict = FeeOf & { readonly code: string | null };

/** A delayed write of `open`. */
type DelayedWrite = { readonly fee: FeeOf; readonly answer: (isWritten: boolean | Promise<boolean>) => void };

/**
 * Long enough for a busy process to gather many writes. Much shorter than a game, so that the
 * process that handles the outcome mostly finds the attempt open. Much shorter than
 * PENDING_GRACE_SECONDS, after which the sweeper asks the wallet.
 */
const PAUSE_MS = 250;
/** Once this many writes are delayed, they are sent before the end of the pause. */
const MAX_DELAYED = 1_000;

export function createAttemptOpener({
  contestService,
  database,
  logger,
  whenOpened = null,
}: {
  contestService: ContestServiceName;
  database: Database;
  logger: Logger;
  whenOpened?: WhenOpened | null;
}): AttemptOpener {
  const posted = new Map<string, Promise<boolean>>();
  const delayed = new Map<string, DelayedWrite>();
  let pause: NodeJS.Timeout | undefined;

  const verdicts = createCoalescer<Verdict, void>({
    name: 'open-attempts',
    isolate: (error) => !isConnectionFailure(error),
    async run(batch) {
      await failpoint(`${contestService}.open.before-commit`);
      await openAttempts(
        database,
        batch.filter((verdict) => verdict.code === null),
        whenOpened,
      );
      await refuseAttempts(
        database,
        batch.flatMap((verdict) => (verdict.code === null ? [] : [{ ...verdict, code: verdict.code }])),
      );
      await failpoint(`${contestService}.open.after-commit`);
      return batch.map(() => undefined);
    },
  });

  async function write(verdict: Verdict): Promise<boolean> {
    try {
      await verdicts.submit(verdict);
      return true;
    } catch (error) {
      logger.warn(
        { err: error, attemptId: verdict.attemptId },
        'the sweeper will have to write what the wallet decided',
      );
      return false;
    }
  }

  /** Until `open` is written, treats the fee as known to be posted. */
  function track(attemptId: string, writing: Promise<boolean>): Promise<boolean> {
    posted.set(attemptId, writing);
    void writing.then(() => {
      if (posted.get(attemptId) === writing) posted.delete(attemptId);
    });
    return writing;
  }

  function writeDelayed(): void {
    clearTimeout(pause);
    pause = undefined;
    for (const { fee, answer } of delayed.values()) answer(write({ ...fee, code: null }));
    delayed.clear();
  }

  /** Resolves the delayed write of the attempt, if there is one. */
  function resolveDelayed(attemptId: string, isWritten: boolean | Promise<boolean>): void {
    delayed.get(attemptId)?.answer(isWritten);
    delayed.delete(attemptId);
  }

  function open(fee: FeeOf): Promise<boolean> {
    const writing = write({ ...fee, code: null });
    resolveDelayed(fee.attemptId, writing);
    return track(fee.attemptId, writing);
  }

  return {
    isAwaited: whenOpened !== null,
    open,
    openCreated(fee) {
      if (whenOpened !== null) return open(fee);
      const { promise, resolve } = Promise.withResolvers<boolean>();
      resolveDelayed(fee.attemptId, promise);
      delayed.set(fee.attemptId, { fee, answer: resolve });
      pause ??= setTimeout(writeDelayed, PAUSE_MS);
      const writing = track(fee.attemptId, promise);
      if (delayed.size >= MAX_DELAYED) writeDelayed();
      return writing;
    },
    refuse: (fee, code) => write({ ...fee, code }),
    settled: (attemptId) => resolveDelayed(attemptId, true),
    isKnownPosted: (attemptId) => posted.has(attemptId),
    async written(attemptId) {
      if (delayed.has(attemptId)) writeDelayed();
      await posted.get(attemptId);
    },
    async drain() {
      writeDelayed();
      await verdicts.drain();
    },
  };
}
