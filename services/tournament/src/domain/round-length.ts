/**
 * How long a round lasts at least (docs/contract/rules.md, "Tournaments"), whichever way its end is
 * stated: as `closes_at`, or as the length of the rounds that open automatically.
 *
 * Entries close ten minutes before the end, and are open for at least a minute before that. Nobody
 * enters before the round exists, so a round that opens in the past counts from its creation.
 */
import { lastOf, millisecondsBetween } from '@laurel/instant';
import { ENTRIES_CLOSE_BEFORE_MS } from './round-status.ts';

const ENTRIES_OPEN_FOR_MS = 60_000;

export const MIN_ROUND_MS = ENTRIES_CLOSE_BEFORE_MS + ENTRIES_OPEN_FOR_MS;

/** Says the reason in an error message. */
export const WHY_SO_LONG = 'entries close ten minutes before the end, and are open for a minute or more';

/** Whether entries of a round that is created now would be open for long enough. */
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
