/**
 * Writes `pending -> open` and `pending -> refused` behind the answers. The wallet's row has decided and can be asked again, so these
 * commits wait for no fsync and no answer waits for them; what is lost here the sweeper finds (resolve-pending.ts).
 */
import { createCoalescer } from '@laurel/coalesce';
import { failpoint } from '@laurel/failpoint';
import { type Database, isConnectionFailure } from '@laurel/postgres';
import type { Logger } from '@laurel/service';
import { type FeeOf, openAttempts, refuseAttempts } from '../repository/attempts.ts';

export interface AttemptOpener {
  /** The wallet posted the fee. Resolves once that is written; never rejects. */
  open(fee: FeeOf): Promise<void>;
  /** The wallet will never post the fee. Resolves once that is written; never rejects. */
  refuse(fee: FeeOf, code: string): Promise<void>;
  /** Whether the fee is known to be posted though the attempt may still say `pending`. */
  isKnownPosted(attemptId: string): boolean;
  /** Resolves once no write of `open` is under way for the attempt; for those who go on from `open`. */
  written(attemptId: string): Promise<void>;
  drain(): Promise<void>;
}

type Verdict = FeeOf & { readonly code: string | null };

export function createAttemptOpener({ database, logger }: { database: Database; logger: Logger }): AttemptOpener {
  const posted = new Map<string, Promise<void>>();

  const verdicts = createCoalescer<Verdict, void>({
    name: 'open-attempts',
    isolate: (error) => !isConnectionFailure(error),
    async run(batch) {
      await database.transaction(
        async (tx) => {
          await openAttempts(
            tx,
            batch.filter((verdict) => verdict.code === null),
          );
          await refuseAttempts(
            tx,
            batch.flatMap((verdict) => (verdict.code === null ? [] : [{ ...verdict, code: verdict.code }])),
          );
        },
        { durable: false, beforeCommit: () => failpoint('challenge.open.before-commit') },
      );
      await failpoint('challenge.open.after-commit');
      return batch.map(() => undefined);
    },
  });

  async function write(verdict: Verdict): Promise<void> {
    try {
      await verdicts.submit(verdict);
    } catch (error) {
      logger.warn(
        { err: error, attemptId: verdict.attemptId },
        'the sweeper will have to write what the wallet decided',
      );
    }
  }

  return {
    async open(fee) {
      const writing = write({ ...fee, code: null });
      posted.set(fee.attemptId, writing);
      await writing;
      posted.delete(fee.attemptId);
    },
    refuse: (fee, code) => write({ ...fee, code }),
    isKnownPosted: (attemptId) => posted.has(attemptId),
    written: (attemptId) => posted.get(attemptId) ?? Promise.resolve(),
    drain: () => verdicts.drain(),
  };
}
