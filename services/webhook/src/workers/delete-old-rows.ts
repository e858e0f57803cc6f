/**
 * Deletes rows that decide nothing any more: the delivery log is kept for some days, and the row of an event for longer than the stream
 * can deliver the event again. Events of the sandbox are for a developer who was away for a weekend.
 */
import type { Database } from '@laurel/postgres';
import {
  deleteEndpointsWithoutLog,
  deleteOldConsumedEvents,
  deleteOldDeliveries,
  deleteOldSandboxEvents,
} from '../repository/retention.ts';

/** Small enough that a statement holds its locks for milliseconds. */
const ROWS_A_STATEMENT = 1_000;
const DAY_MS = 86_400_000;
/** The stream keeps an event for 3 days at most (libs/events). */
const CONSUMED_EVENTS_DAYS = 7;
/** docs/contract/portal-api.md, "Events of the sandbox". */
const SANDBOX_EVENTS_DAYS = 3;

export function createDeleteOldRows({
  database,
  logRetentionDays,
}: {
  database: Database;
  logRetentionDays: number;
}): (now: Date) => Promise<void> {
  return async function runOnce(now) {
    await untilFew((limit) => deleteOldDeliveries(database, daysBefore(now, logRetentionDays), limit));
    await untilFew((limit) => deleteEndpointsWithoutLog(database, limit));
    await untilFew((limit) => deleteOldConsumedEvents(database, daysBefore(now, CONSUMED_EVENTS_DAYS), limit));
    await untilFew((limit) => deleteOldSandboxEvents(database, daysBefore(now, SANDBOX_EVENTS_DAYS), limit));
  };
}

async function untilFew(deleteSome: (limit: number) => Promise<number>): Promise<void> {
  while ((await deleteSome(ROWS_A_STATEMENT)) === ROWS_A_STATEMENT);
}

function daysBefore(now: Date, days: number): Date {
  return new Date(now.getTime() - days * DAY_MS);
}
