/**
 * Counts the money of each program by day. One replica at a time counts: it leases the run by
 * moving its instant in `day_counts`.
 *
 * Days that are over and not closed yet (all days, for a ledger that was never counted) are closed
 * in chunks, oldest first: as many days as have CHUNK_TRANSFERS, or one. A chunk is one transaction
 * that replaces the rows of its days, closes them and renews the lease. So a process that dies
 * loses one chunk, another one continues with the same day when the lease has run out, and no
 * transfer counts twice. The last step counts what is left, with the open days.
 */
import type { Database } from '@laurel/postgres';
import { later } from '@laurel/values/instant';
import { dayAfter, daysBetween, firstOpenDay, pauseAfterRunMs } from '../domain/counted-day.ts';
import {
  closeDays,
  countDays,
  hasAtMostTransfers,
  leaseDayCount,
  postponeDayCount,
} from '../repository/program-days.ts';

/** A lease lasts longer than a step may take. */
const LEASE_MS = 180_000;

/** Counting this many transfers takes less than a second. */
const CHUNK_TRANSFERS = 200_000;

/** A run that has closed days for this long ends; the next run is due immediately. */
const CHUNKS_MS = 5_000;

export function createCountDays({
  database,
  intervalMs,
  chunkTransfers = CHUNK_TRANSFERS,
  chunksMs = CHUNKS_MS,
}: {
  readonly database: Database;
  readonly intervalMs: number;
  readonly chunkTransfers?: number;
  readonly chunksMs?: number;
}) {
  /** The number of days of the next chunk; 0 if the last step can count all that is left. */
  async function daysOfChunk(openFrom: string, closedBefore: string, atMost: number): Promise<number> {
    const left = daysBetween(openFrom, closedBefore);
    for (let days = Math.min(left, atMost); days > 0; days = Math.ceil(days / 2)) {
      const fits = await hasAtMostTransfers(database, openFrom, dayAfter(openFrom, days), chunkTransfers);
      if (fits && days === left) return 0;
      if (fits || days === 1) return days;
    }
    return 0;
  }

  return async function runOnce(now: Date): Promise<void> {
    const startedAt = performance.now();
    const elapsedMs = (since = startedAt) => Math.round(performance.now() - since);
    let lease = await leaseDayCount(database, now, later(now, LEASE_MS));
    if (lease === null) return;

    const closedBefore = firstOpenDay(now);
    let stepAt = startedAt;
    const nextRunAt = () => later(now, elapsedMs() + pauseAfterRunMs(intervalMs, elapsedMs(stepAt)));
    try {
      for (let days = Number.POSITIVE_INFINITY; ; ) {
        stepAt = performance.now();
        days = await daysOfChunk(lease.openFrom, closedBefore, 2 * days);
        if (days === 0) return await countDays(database, lease, { now, closedBefore, nextRunAt });
        const until = dayAfter(lease.openFrom, days);
        lease = await closeDays(database, lease, { until, leasedUntil: later(now, elapsedMs() + LEASE_MS) });
        if (elapsedMs() >= chunksMs)
          return await postponeDayCount(database, lease.leasedUntil, later(now, elapsedMs()));
      }
    } catch (error) {
      await postponeDayCount(database, lease.leasedUntil, nextRunAt());
      throw error;
    }
  };
}
