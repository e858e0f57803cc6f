/**
 * The minimum length of a round (docs/contract/rules.md, "Tournaments"), whether its end is given
 * as `closes_at` or as the length of rounds that open automatically.
 *
 * Entries close ten minutes before the end, and must be open for at least a minute before that.
 * No player can enter a round before it exists, so a round that opens in the past counts from its
 * creation.
 */
import { lastOf, millisecondsBetween } from '@laurel/values/instant';
import { ENTRIES_CLOSE_BEFORE_MS } from './round-status.ts';

const ENTRIES_OPEN_FOR_MS = 60_000;

export const MIN_ROUND_MS = ENTRIES_CLOSE_BEFORE_MS + ENTRIES_OPEN_FOR_MS;

/** The reason, for error messages. */
export const MIN_LENGTH_REASON = 'entries close ten minutes before the end, and are open for a minute or more';

/** Whether a round created now would take entries for long enough. */
export function isLongEnough({
  opensAt,
  closesAt,
  now,
}: {
  readonly opensAt: Date;
  readonly closesAt: Date;
  readonly now: Date;
}): boolean {
  return millisecondsBetween(lastOf(opensAt, now), closesAt) >= MIN_ROUND_MS;
}
