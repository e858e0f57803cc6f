/** The period of an endpoint's statistics, and the buckets into which it is cut. */
import { later } from '@laurel/values/instant';

const HOUR_MS = 3_600_000;

export type StatsPeriod = { readonly from: Date; readonly bucketMs: number; readonly starts: readonly Date[] };

/** The hours up to `now`, in buckets of one hour, of six, or of a day: at most 48. */
export function statsPeriod(now: Date, hours: number): StatsPeriod {
  const hoursPerBucket = hours <= 48 ? 1 : hours <= 168 ? 6 : 24;
  const from = later(now, -hours * HOUR_MS);
  const bucketMs = hoursPerBucket * HOUR_MS;
  const starts = Array.from({ length: Math.ceil(hours / hoursPerBucket) }, (_, index) => later(from, index * bucketMs));
  return { from, bucketMs, starts };
}
