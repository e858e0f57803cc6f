/**
 * Writes `pending -> open` and `pending -> refused` behind the answers. The wallet's row has decided and can be asked again, so these
 * commits wait for no fsync, and an answer waits for them only if its owner says so; what is lost here the sweeper finds
 * (resolve-pending.ts).
 *
 * An owner may have work to do when an attempt opens. It runs once for each attempt, in the commit that opens it, whoever brings that
 * about. An outcome that settles an attempt straight from `pending` passes it by: whoever has such work waits for `written` first.
 *
 * Without such work nobody waits for the `open` of a creation, so it pauses first: all that open within one pause are written by one
 * statement, and those that an outcome has settled by then not at all. Another process that meets such an attempt asks the wallet.
 */
import { createCoalescer } from '@laurel/coalesce';
import { failpoint } from '@laurel/failpoint';
import type { AttemptOwner } from '@laurel/ids';
import { type Database, isConnectionFailure } from '@laurel/postgres';
import type { Logger } from '@laurel/service';
import { type FeeOf, openAttempts, refuseAttempts, type WhenOpened } from './repository/attempts.ts';

export interface AttemptOpener {
  /** The wallet posted the fee. Says whether that could be written; never rejects. */
  open(fee: FeeOf): Promise<boolean>;
  /** As `open`, for a creation: written at once where the owner has work to do, after a pause where it has none. */
  openCreated(fee: FeeOf): Promise<boolean>;
  /** The wallet will never post the fee. Says whether that could be written; never rejects. */
  refuse(fee: FeeOf, code: string): Promise<boolean>;
  /** An outcome settled the attempt, from whatever it said: there is nothing to open any more. */
  settled(attemptId: string): void;
  /** Whether the fee is known to be posted though the attempt may still say `pending`. */
  isKnownPosted(attemptId: string): boolean;
  /** Resolves once no write of `open` is under way for the attempt, nor put off; for those who go on from `open`. */
  written(attemptId: string): Promise<unknown>;
  /** Writes what was put off, and waits for all that is under way. */
  drain(): Promise<void>;
}

type Verdict = FeeOf & { readonly code: string | null };

/** A write of `open` that pauses. */
type PutOff = { readonly fee: FeeOf; readonly answer: (isWritten: boolean | Promise<boolean>) => void };

/**
 * Long enough to gather what a busy process opens, short beside the grace after which the sweeper asks the wallet (PENDING_GRACE_SECONDS)
 * and beside a game: an outcome that another process takes mostly finds the attempt open.
 */
const PAUSE_MS = 250;
/** More than this are written before the pause is over. */
const MAX_PUT_OFF = 1_000;

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
  const putOff = new Map<string, PutOff>();
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

  /** The attempt is known to be posted for as long as `open` is not written. */
  function track(attemptId: string, writing: Promise<boolean>): Promise<boolean> {
    posted.set(attemptId, writing);
    void writing.then(() => {
      if (posted.get(attemptId) === writing) posted.delete(attemptId);
    });
    return writing;
  }

  function writePutOff(): void {
    clearTimeout(pause);
    pause = undefined;
    for (const { fee, answer } of putOff.values()) answer(write({ ...fee, code: null }));
    putOff.clear();
  }

  /** Answers what was put off for the attempt, if anything was. */
  function takeUp(attemptId: string, isWritten: boolean | Promise<boolean>): void {
    putOff.get(attemptId)?.answer(isWritten);
    putOff.delete(attemptId);
  }

  function open(fee: FeeOf): Promise<boolean> {
    const writing = write({ ...fee, code: null });
    takeUp(fee.attemptId, writing);
    return track(fee.attemptId, writing);
  }

  return {
    open,
    openCreated(fee) {
      if (whenOpened !== null) return open(fee);
      const { promise, resolve } = Promise.withResolvers<boolean>();
      takeUp(fee.attemptId, promise);
      putOff.set(fee.attemptId, { fee, answer: resolve });
      pause ??= setTimeout(writePutOff, PAUSE_MS);
      const writing = track(fee.attemptId, promise);
      if (putOff.size >= MAX_PUT_OFF) writePutOff();
      return writing;
    },
    refuse: (fee, code) => write({ ...fee, code }),
    settled: (attemptId) => takeUp(attemptId, true),
    isKnownPosted: (attemptId) => posted.has(attemptId),
    async written(attemptId) {
      if (putOff.has(attemptId)) writePutOff();
      await posted.get(attemptId);
    },
    async drain() {
      writePutOff();
      await verdicts.drain();
    },
  };
}
