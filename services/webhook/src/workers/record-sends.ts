/**
 * Records how sends ended: one statement records all that ended while the previous one ran. A send
 * whose end is lost is made again. So while the database is unreachable, the ends are kept until
 * their leases expire. An end that is recorded twice, or too late, changes nothing.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Coalescer, createCoalescer } from '@laurel/coalesce';
import { type Database, isConnectionFailure } from '@laurel/postgres';
import type { Logger } from '@laurel/service';
import { failpoint } from '../failpoints.ts';
import { recordSends, type SendRecord } from '../repository/sends.ts';

const RETRY_MS = 500;
/** The tries last longer than a lease; after it, the sweep has already begun the next send. */
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
