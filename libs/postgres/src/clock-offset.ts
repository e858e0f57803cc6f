/**
 * How far a database's clock is from this process's monotonic clock (`performance.now()`, which cannot be set).
 *
 * A sample asks the database for its time. The answer was true at some instant between the question and the answer, so it bounds the
 * offset from both sides, however unevenly the two directions were delayed; the middle is wrong by half of the round trip at the most
 * (Cristian's algorithm, 1989). Samples are intersected (Marzullo's, 1984), and between them the bounds grow by what two clocks can
 * drift apart. A sample entirely outside of them means that one of the clocks was set: that sample alone is kept.
 *
 * All times are milliseconds.
 */

/** One question and its answer. `sentAt` and `receivedAt` are of the monotonic clock, `shown` is the database's, since the epoch. */
export type ClockSample = { readonly sentAt: number; readonly receivedAt: number; readonly shown: number };

/** The bounds of the database's time less the monotonic clock's, as they were at an instant of the latter. */
export type ClockOffset = { readonly lowest: number; readonly highest: number; readonly measuredAt: number };

/** What two clocks drift apart in a millisecond at the most: a crystal by 0.0001, one that NTP corrects by 0.0005, and there are two. */
const DRIFT = 0.001;

export function offsetOf({ sentAt, receivedAt, shown }: ClockSample): ClockOffset {
  const drift = (receivedAt - sentAt) * DRIFT;
  return { lowest: shown - receivedAt - drift, highest: shown - sentAt + drift, measuredAt: receivedAt };
}

/** The intersected bounds; the sample alone, with `isStep`, where it contradicts the earlier bounds. */
export function refineOffset(
  known: ClockOffset,
  sample: ClockSample,
): { readonly offset: ClockOffset; readonly isStep: boolean } {
  const sampled = offsetOf(sample);
  const drift = driftOf(known, sampled.measuredAt);
  const lowest = Math.max(sampled.lowest, known.lowest - drift);
  const highest = Math.min(sampled.highest, known.highest + drift);
  if (lowest > highest) return { offset: sampled, isStep: true };
  return { offset: { lowest, highest, measuredAt: sampled.measuredAt }, isStep: false };
}

export function middleOf({ lowest, highest }: ClockOffset): number {
  return (lowest + highest) / 2;
}

/** By how much the middle may be wrong at an instant of the monotonic clock. */
export function errorOf(offset: ClockOffset, at: number): number {
  return (offset.highest - offset.lowest) / 2 + driftOf(offset, at);
}

function driftOf({ measuredAt }: ClockOffset, at: number): number {
  return (at - measuredAt) * DRIFT;
}
