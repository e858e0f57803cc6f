/**
 * When to drop a cursor that the partner no longer knows, which its server shows by a 400 or 410.
 * Three such responses in a row drop the cursor, and paging starts over: records that were settled
 * before are duplicates.
 *
 * Any other response resets the count. A failure of this service does not reset it, and neither
 * does a poll that did not send the cursor.
 */
import type { PollFailure } from './poll-failure.ts';

const MAX_REFUSALS = 3;
const REFUSALS: ReadonlySet<PollFailure> = new Set(['http_400', 'http_410']);

export type CursorRefusals = {
  /** The number of refusals in a row, for the same cursor. */
  readonly refusals: number;
  readonly isDropped: boolean;
};

/**
 * The count after a page that failed. The page was requested with `cursor`, which had been refused
 * `before` times in a row.
 */
export function cursorRefusalsAfter(failure: PollFailure, cursor: string | null, before: number): CursorRefusals {
  if (cursor === null || !REFUSALS.has(failure)) return { refusals: 0, isDropped: false };
  const isDropped = before + 1 >= MAX_REFUSALS;
  return { refusals: isDropped ? 0 : before + 1, isDropped };
}
