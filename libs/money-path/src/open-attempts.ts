/**
 * Writes `pending -> open` and `pending -> refused` behind the answers. The wallet's row has decided and can be asked again, so these
 * commits wait for no fsync, and an answer waits for them only if its owner says so; what is lost here the sweeper finds
 * (resolve-pending.ts).
 *
 * An owner may have work to do when an attempt opens. It runs once for each attempt, in the commit that opens it, whoever brings that
 * about. An outcome that settles an attempt straight from `pending` passes it by: whoever has such work waits for `written` first.
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
  /** The wallet will never post the fee. Says whether that could be written; never rejects. */
  refuse(fee: FeeOf, code: string): Promise<boolean>;
  /** Whether the fee is known to be posted though the attempt may still say `pending`. */
  isKnownPosted(attemptId: string): boolean;
  /** Resolves once no write of `open` is under way for the attempt; for those who go on from `open`. */
  written(attemptId: string): Promise<unknown>;
  drain(): Promise<void>;
}

type Verdict = FeeOf & { readonly code: string | null };

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

  return {
    async open(fee) {
      const writing = write({ ...fee, code: null });
      posted.set(fee.attemptId, writing);
      const isWritten = await writing;
      posted.delete(fee.attemptId);
      return isWritten;
    },
    refuse: (fee, code) => write({ ...fee, code }),
    isKnownPosted: (attemptId) => posted.has(attemptId),
    written: (attemptId) => posted.get(attemptId) ?? Promise.resolve(),
    drain: () => verdicts.drain(),
  };
}
