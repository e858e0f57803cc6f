/**
 * Instants: which ones Laurel accepts from outside, and how a rule compares two of them.
 *
 * - An instant from outside lies between 1900-01-01 and 9999-01-01 UTC, both included
 *   (docs/contract/rules.md, "Bounds"). Every year in between has four digits, in every time zone,
 *   so whatever is stored can be read back. The databases hold the same bounds as constraints.
 * - A `Date` may hold no instant (`new Date(NaN)`), and JavaScript then answers false to every `<`
 *   and `>=`. A rule that compared such a `Date` would fail open. These functions throw instead:
 *   such a value is a bug, and the request that met it fails.
 */

/** The first instant that requests may contain. */
export const FIRST_INSTANT = new Date('1900-01-01T00:00:00.000Z');

/** The last instant that requests may contain. */
export const LAST_INSTANT = new Date('9999-01-01T00:00:00.000Z');

/** The bounds, for an error message: `must lie between ...`. */
export const INSTANT_BOUNDS = 'between 1900-01-01 and 9999-01-01 UTC';

/** Whether the instant may be stored. False for an invalid `Date`. */
export function isInBounds(instant: Date): boolean {
  return instant >= FIRST_INSTANT && instant <= LAST_INSTANT;
}

/** Returns milliseconds since 1970. Throws RangeError for an invalid `Date`. */
export function millisecondsOf(instant: Date): number {
  const milliseconds = instant.getTime();
  if (Number.isNaN(milliseconds)) throw new RangeError('a Date holds no instant');
  return milliseconds;
}

/** Whether `one` is before `other`. Throws RangeError for an invalid `Date`. */
export function isBefore(one: Date, other: Date): boolean {
  return millisecondsOf(one) < millisecondsOf(other);
}

/**
 * The milliseconds from `start` to `end`, negative if `end` is first. Throws RangeError for an
 * invalid `Date`.
 */
export function millisecondsBetween(start: Date, end: Date): number {
  return millisecondsOf(end) - millisecondsOf(start);
}

/** The instant this many milliseconds later. Throws RangeError if there is none. */
export function later(instant: Date, milliseconds: number): Date {
  return verified(new Date(millisecondsOf(instant) + milliseconds));
}

/** The earlier of the two. Throws RangeError for an invalid `Date`. */
export function firstOf(one: Date, other: Date): Date {
  return isBefore(other, one) ? other : one;
}

/** The later of the two. Throws RangeError for an invalid `Date`. */
export function lastOf(one: Date, other: Date): Date {
  return isBefore(one, other) ? other : one;
}

function verified(instant: Date): Date {
  millisecondsOf(instant);
  return instant;
}
