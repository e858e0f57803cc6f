/**
 * The entrants of a round: an account is one with at least one attempt whose fee was not returned.
 *
 * - While the round is running: an attempt makes its account an entrant from its payment on, until it expires or is voided. From then on
 *   its refund is certain, and the account is no entrant, unless it has another attempt; its next attempt makes it one again.
 * - At the close open attempts end first. Every other attempt has a score by then or was refunded, so the number of entrants that the
 *   round's gate compares, and that `entrant_count` shows from then on, is the number of players who scored.
 * - A cancelled round returns every fee. That does not change its entrants: every account that was one at its end sees the board, with the
 *   refunds.
 * - An account that is no entrant sees the same board as one that never entered.
 */
import type { AttemptStatus } from '@laurel/attempts/domain';
import type { Tally } from './tournament.ts';

/** An attempt in one of these makes its account an entrant of a round that is running. */
export const ENTRANT_STATUSES = ['open', 'settled'] as const satisfies readonly AttemptStatus[];

/**
 * The number of entrants of a round that is closed, or is about to be: its open attempts have ended, so the remaining entrants have scored.
 */
export function fieldAtClose(tally: Pick<Tally, 'scoredPlayers'>): number {
  return tally.scoredPlayers;
}
