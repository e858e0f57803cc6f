/**
 * Days of money are UTC days. A day stays open until CLOSES_AFTER_MS after its end, and every run
 * until then counts it anew. Then a run counts it for the last time and closes it.
 *
 * Every transfer and decision is dated by the database's time when it is decided, and commits or
 * fails within the timeout of its transaction. So no amount of a closed day is added later.
 */
import { later, millisecondsBetween } from '@laurel/values/instant';

/** Much longer than any transaction of the wallet may take. */
const CLOSES_AFTER_MS = 15 * 60_000;

const DAY_MS = 24 * 3_600_000;

/** The first day that is open at this instant, as `2026-11-26`. */
export function firstOpenDay(now: Date): string {
  return later(now, -CLOSES_AFTER_MS).toISOString().slice(0, 10);
}

/**
 * The number of days from `from`, included, to `until`, not included; 0 if `until` is not later.
 */
export function daysBetween(from: string, until: string): number {
  return Math.max(0, millisecondsBetween(startOf(from), startOf(until)) / DAY_MS);
}

/** The day this many days after another. */
export function dayAfter(day: string, days: number): string {
  return later(startOf(day), days * DAY_MS)
    .toISOString()
    .slice(0, 10);
}

function startOf(day: string): Date {
  return new Date(`${day}T00:00:00.000Z`);
}

/** Fees from before the ledger named their program are counted under this one. */
export const UNNAMED_PROGRAM = '00000000-0000-0000-0000-000000000000';

/** The pause after a run lasts at least this many times as long as the run. */
const RUN_SHARE = 20;

/**
 * The pause after a run. It grows with the run's duration, so that a large ledger is read less
 * often.
 */
export function pauseAfterRunMs(intervalMs: number, durationMs: number): number {
  return Math.max(intervalMs, RUN_SHARE * durationMs);
}
