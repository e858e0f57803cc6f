/**
 * Counts the money of each program by day. One replica at a time counts: it leases the run by
 * moving its instant in `day_counts`. A process that dies has stored nothing, and another one
 * counts when the lease has run out.
 */
import type { Database } from '@laurel/postgres';
import { later } from '@laurel/values/instant';
import { firstOpenDay, pauseAfterRunMs } from '../domain/counted-day.ts';
import { countDays, leaseDayCount, postponeDayCount } from '../repository/program-days.ts';

/** A lease lasts longer than a run may take. */
const LEASE_MS = 180_000;

export function createCountDays({
  database,
  intervalMs,
}: {
  readonly database: Database;
  readonly intervalMs: number;
}) {
  return async function runOnce(now: Date): Promise<void> {
    const leasedUntil = later(now, LEASE_MS);
    const leased = await leaseDayCount(database, now, leasedUntil);
    if (leased === null) return;
    const startedAt = performance.now();
    const nextRunAt = () => {
      const durationMs = Math.round(performance.now() - startedAt);
      return later(now, durationMs + pauseAfterRunMs(intervalMs, durationMs));
    };
    try {
      const closedBefore = firstOpenDay(now);
      await countDays(database, { ...leased, leasedUntil }, { now, closedBefore, nextRunAt });
    } catch (error) {
      await postponeDayCount(database, leasedUntil, nextRunAt());
      throw error;
    }
  };
}
