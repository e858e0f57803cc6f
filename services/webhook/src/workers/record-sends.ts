/**
 * Records how sends ended: one statement records all that ended while the previous one ran. A send
 * whose end is lost would be made again, so the recorder keeps the ends while the database is
 * unreachable, until their leases have expired. An end that is recorded twice, or too late, changes
 * nothing.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Coalescer, createCoalescer } from '@laurel/coalesce';
import { type Database, isConnectionFailure } from '@laurel/postgres';
import type { Logger } from '@laurel/service';
import { failpoint } from '../failpoints.ts';
import { recordSends, type SendRecord } from '../repository/sends.ts';

const RETRY_MS = 500;
/**
 * 40 tries to record take 20 s, longer than the lease of a send (15 s by default). To record later
 * is of no use: once the lease has expired, the sweep sends again.
 */
const MAX_TRIES = 40;

export function createSendRecorder(deps: {
  readonly database: Database;
  readonly logger: Logger;
  readonly isStopping: () => boolean;
}): Coalescer<SendRecord, void> {
  const { database, logger, isStopping } = deps;

  async function record(records: readonly SendRecord[]): Promise<void> {
    for (let triesLeft = MAX_TRIES; ; ) {
      try {
        await failpoint('webhook.record.before-commit');
        await recordSends(database, records);
        await failpoint('webhook.record.after-commit');
        return;
      } catch (error) {
        triesLeft -= 1;
        logger.error({ err: error, sends: records.length, triesLeft }, 'the ends of sends could not be recorded');
        if (!isConnectionFailure(error) || triesLeft === 0 || isStopping()) throw error;
        await sleep(RETRY_MS);
      }
    }
  }

  return createCoalescer<SendRecord, void>({
    name: 'webhook.record',
    // If one bad row fails the statement, each row is recorded alone. If the database is
    // unreachable, each row would fail as well.
    isolate: (error) => !isConnectionFailure(error),
    run: async (records) => {
      await record(records);
      return records.map(() => undefined);
    },
  });
}
