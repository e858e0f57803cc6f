/**
 * How far a database's clock is from this process's monotonic clock (`performance.now()`, which
 * cannot be set).
 *
 * A sample asks the database for its time. The time was true at some instant of the round trip, so
 * it bounds the offset from both sides, however uneven the two delays; the middle is wrong by at
 * most half of the round trip (Cristian's algorithm, 1989).
 * The bounds of several samples are intersected (Marzullo's algorithm, 1984). Between samples the
 * bounds grow by the drift of two clocks. A sample that contradicts the bounds means that a clock
 * was set: then only that sample counts.
 *
 * All times are milliseconds.
 */

/**
 * One question and its answer. `sentAt` and `receivedAt` are monotonic; `shown` is the database's
 * time since the epoch.
 */
export type ClockSample = { readonly sentAt: number; readonly receivedAt: number; readonly shown: number };

/** Bounds of the database's time minus the monotonic clock's, as measured at `measuredAt`. */
export type ClockOffset = { readonly lowest: number; readonly highest: number; readonly measuredAt: number };

/**
 * The most that two clocks drift apart in a millisecond. A crystal drifts by 0.0001, and NTP's
 * correction adds up to 0.0005, for each clock.
 */
const DRIFT = 0.001;

export function offsetOf({ sentAt, receivedAt, shown }: ClockSample): ClockOffset {
  const drift = (receivedAt - sentAt) * DRIFT;
  return { lowest: shown - receivedAt - drift, highest: shown - sentAt + drift, measuredAt: receivedAt };
}

/**
 * Intersects the known bounds with those of a sample. If they contradict each other, returns the
 * sample's bounds alone, with `isStep`.
 */
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

/** The middle of the bounds. */
export function likeliestOffsetMs({ lowest, highest }: ClockOffset): number {
  return (lowest + highest) / 2;
}

/** How wrong `likeliestOffsetMs` may be at an instant of the monotonic clock. */
export function maxErrorMs(offset: ClockOffset, at: number): number {
  return (offset.highest - offset.lowest) / 2 + driftOf(offset, at);
}

function driftOf({ measuredAt }: ClockOffset, at: number): number {
  return (at - measuredAt) * DRIFT;
}
