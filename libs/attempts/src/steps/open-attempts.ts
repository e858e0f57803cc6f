/**
 * Writes `pending -> open` and `pending -> refused` after the answers. The wallet's row has decided and can be read again, so these
 * commits wait for no fsync, and an answer waits for them only if its owner requires it; the sweeper repairs what is lost here
 * (resolve-pending.ts).
 *
 * A contest may have work to do when an attempt opens. It is done in the commit that opens the attempt and in the same round trip,
 * whichever call causes that; a later call sends it again, and it changes nothing. An outcome that settled an attempt directly from
 * `pending` would skip it, so it waits (`isAwaited`); and so does the answer to the creation, so that a read right after it, on any
 * replica, finds the work done.
 *
 * Without such work no call waits for the `open` of a creation, so its write is delayed: all attempts that open within one pause are
 * written by one statement, and those that an outcome has settled by then are not written at all. Another process that reads such an
 * attempt asks the wallet.
 */
import { createCoalescer } from '@laurel/coalesce';
import type { AttemptOwner } from '@laurel/ids';
import { type Database, isConnectionFailure } from '@laurel/postgres';
import type { Logger } from '@laurel/service';
import { failpoint } from '../failpoints.ts';
import { type FeeOf, openAttempts, refuseAttempts, type WhenOpened } from '../repository/attempts.ts';

export interface AttemptOpener {
  /** The wallet posted the fee. Resolves with whether that was written; never rejects. */
  open(fee: FeeOf): Promise<boolean>;
  /** As `open`, for a creation: written immediately where the contest has work to do, after a pause where it has none. */
  openCreated(fee: FeeOf): Promise<boolean>;
  /** The wallet will never post the fee. Resolves with whether that was written; never rejects. */
  refuse(fee: FeeOf, code: string): Promise<boolean>;
  /** An outcome settled the attempt, whatever state it was in: there is no `open` to write any more. */
  settled(attemptId: string): void;
  /** Whether the fee is known to be posted though the row may still be `pending`. */
  isKnownPosted(attemptId: string): boolean;
  /** Resolves once no write of `open` for the attempt is in flight or delayed; for callers that continue from `open`. */
  written(attemptId: string): Promise<unknown>;
  /** The contest has work to do when an attempt opens, so that the answer to a creation and an outcome wait for the write. */
  readonly isAwaited: boolean;
  /** Writes what was delayed, and waits for all writes in flight. */
  drain(): Promise<void>;
}

type Verdict = FeeOf & { readonly code: string | null };

/** A delayed write of `open`. */
type DelayedWrite = { readonly fee: FeeOf; readonly answer: (isWritten: boolean | Promise<boolean>) => void };

/**
 * Long enough to gather what a busy process opens, short compared with the grace after which the sweeper asks the wallet
 * (PENDING_GRACE_SECONDS) and with a game: an outcome that another process handles mostly finds the attempt open.
 */
const PAUSE_MS = 250;
/** More than this are written before the pause ends. */
const MAX_DELAYED = 1_000;

export function createAttemptOpener({
  owner,
  database,
  logger,
  whenOpened = null,
}: {
  owner: AttemptOwner;
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
      await failpoint(`${owner}.open.before-commit`);
      await openAttempts(
        database,
        batch.filter((verdict) => verdict.code === null),
        whenOpened,
      );
      await refuseAttempts(
        database,
        batch.flatMap((verdict) => (verdict.code === null ? [] : [{ ...verdict, code: verdict.code }])),
      );
      await failpoint(`${owner}.open.after-commit`);
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

  /** Its fee counts as known to be posted for as long as `open` is not written. */
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
