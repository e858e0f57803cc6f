/**
 * Writes the log after the responses. An entry is submitted once its push got a response. One
 * statement, not durable, writes all entries that gathered in GATHER_MS. The log decides nothing:
 * an entry that cannot be written is lost, and the service's own log reports that.
 */
import { createCoalescer } from '@laurel/coalesce';
import { type Database, isConnectionFailure } from '@laurel/postgres';
import type { Logger } from '@laurel/service';
import { counter } from '@laurel/telemetry';
import { failpoint } from '../failpoints.ts';
import { insertLogEntries, type NewLogEntry } from '../repository/log-entries.ts';

const MAX_ENTRIES = 500;
/**
 * How long an entry may wait for others: a developer who reads the log does not notice, and a busy
 * service writes ten times a second.
 */
const GATHER_MS = 100;
/** An entry takes some kilobytes; those beyond the limit are lost. */
const MAX_QUEUED = 10_000;

export interface LogWriter extends AsyncDisposable {
  /** Takes an entry to write later. It never throws, and no caller waits for the write. */
  add(entry: NewLogEntry): void;
  /** Resolves when every entry that was added is written or lost. */
  drain(): Promise<void>;
}

export function createLogWriter({ database, logger }: { database: Database; logger: Logger }): LogWriter {
  const lost = counter(
    'laurel_integration_log_entries_lost_total',
    'Entries of the log that could not be written.',
    [],
  );
  const writes = createCoalescer<NewLogEntry, void>({
    name: 'integration.write-log',
    maxItems: MAX_ENTRIES,
    gatherMs: GATHER_MS,
    maxQueued: MAX_QUEUED,
    // If one bad row fails the statement, each row is written alone. If the database is
    // unreachable, each row would fail as well.
    isolate: (error) => !isConnectionFailure(error),
    run: async (entries) => {
      await failpoint('integration.log.before-commit');
      await insertLogEntries(database, entries);
      await failpoint('integration.log.after-commit');
      return entries.map(() => undefined);
    },
  });
  return {
    add(entry) {
      writes.submit(entry).catch((error: unknown) => {
        lost.inc({});
        logger.warn({ err: error, integrationId: entry.integrationId }, 'an entry of the log is lost');
      });
    },
    drain: () => writes.drain(),
    [Symbol.asyncDispose]: () => writes.drain(),
  };
}
