/**
 * Deletes rows that no longer affect a decision. The delivery log is kept for some days. An event's
 * row is kept for longer than the stream can redeliver the event. Sandbox events are kept long
 * enough for a developer who was away for a weekend.
 */
import type { Database } from '@laurel/postgres';
import { deleteInBatches } from '@laurel/service';
import {
  deleteEndpointsWithoutLog,
  deleteOldConsumedEvents,
  deleteOldDeliveries,
  deleteOldSandboxEvents,
} from '../repository/old-rows.ts';

/** The days for which the delivery log is kept, unless the service's setting says otherwise. */
export const DEFAULT_LOG_RETENTION_DAYS = 30;
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
    await deleteInBatches((limit) => deleteOldDeliveries(database, daysBefore(now, logRetentionDays), limit));
    await deleteInBatches((limit) => deleteEndpointsWithoutLog(database, limit));
    await deleteInBatches((limit) => deleteOldConsumedEvents(database, daysBefore(now, CONSUMED_EVENTS_DAYS), limit));
    await deleteInBatches((limit) => deleteOldSandboxEvents(database, daysBefore(now, SANDBOX_EVENTS_DAYS), limit));
  };
}

function daysBefore(now: Date, days: number): Date {
  return new Date(now.getTime() - days * DAY_MS);
}
