/**
 * A partner that no longer knows a cursor answers 400 or 410. The cursor that three such answers in a row refuse is dropped, and paging begins
 * anew: what was settled is a duplicate. Any other answer ends the row; a failure of this service, or a poll that did not send it, does not.
 */
import type { PollFailure } from './poll-failure.ts';

const MAX_REFUSALS = 3;
const REFUSALS: ReadonlySet<PollFailure> = new Set(['http_400', 'http_410']);

export type CursorRefusals = {
  /** In a row, for the same cursor. */
  readonly refusals: number;
  readonly isDropped: boolean;
};

/** After a page that failed. `cursor` is what it was requested with, `before` how often in a row that had been refused before. */
export function refusalsAfter(failure: PollFailure, cursor: string | null, before: number): CursorRefusals {
  if (cursor === null || !REFUSALS.has(failure)) return { refusals: 0, isDropped: false };
  const isDropped = before + 1 >= MAX_REFUSALS;
  return { refusals: isDropped ? 0 : before + 1, isDropped };
}
