/** The period whose failed deliveries are sent again. */
import type { ResendPeriod } from '../../api/api-types.ts';

const HOUR_MS = 3_600_000;

export interface PeriodDraft {
  /** Hours before now, or "custom". */
  readonly since: string;
  /** In the time zone of the browser, as in a field of date and time: "2026-11-21T12:00". */
  readonly from: string;
  readonly to: string;
}

/** Returns the period, or undefined while the two instants are not a period. */
export function periodOf({ since, from, to }: PeriodDraft, now: number): ResendPeriod | undefined {
  if (since !== 'custom') return spanOf(now - Number(since) * HOUR_MS, now);
  const [begin, end] = [Date.parse(from), Date.parse(to)];
  return begin < end ? spanOf(begin, end) : undefined;
}

function spanOf(from: number, to: number): ResendPeriod {
  return { from: new Date(from).toISOString(), to: new Date(to).toISOString() };
}
