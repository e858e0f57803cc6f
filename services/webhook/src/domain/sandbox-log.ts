/**
 * A reader of a sandbox's log gets every event once, or learns that some are gone. A program's
 * events have the positions 1, 2, 3, ... without a gap. So if a position below the last one is
 * missing, its event was deleted because of its age.
 */
import { type Refused, refused } from '@laurel/errors';

export type LoggedEvent = {
  readonly position: bigint;
  readonly id: string;
  readonly type: string;
  readonly body: Buffer;
  readonly createdAt: Date;
};

/**
 * The events after a position, in order, and the position of the newest event ever. Both are read
 * in one snapshot.
 */
export type LogPage = { readonly lastPosition: bigint; readonly events: readonly LoggedEvent[] };

/**
 * Where a page begins: after the position in the reader's cursor, or, without a cursor, at `now` or
 * at the `oldest` event.
 */
export type LogStart = bigint | 'now' | 'oldest';

const GONE =
  'Events after this cursor were deleted, which happens 3 days after an event: begin again with from=oldest or from=now.';
const AHEAD = 'This cursor is ahead of the newest event: begin again with from=oldest or from=now.';

/** The next events without a gap, and the position from which to continue. */
export function decidePage(
  start: LogStart,
  { lastPosition, events }: LogPage,
): Refused | { readonly events: readonly LoggedEvent[]; readonly next: bigint } {
  if (start === 'now') return { events: [], next: lastPosition };
  const after = start === 'oldest' ? (events[0]?.position ?? lastPosition + 1n) - 1n : start;
  if (after > lastPosition) return refused('invalid_request', AHEAD);
  const gap = events.findIndex(({ position }, index) => position !== after + BigInt(index) + 1n);
  const following = gap === -1 ? events : events.slice(0, gap);
  if (following.length === 0 && after < lastPosition) return refused('invalid_request', GONE);
  return { events: following, next: following.at(-1)?.position ?? after };
}
