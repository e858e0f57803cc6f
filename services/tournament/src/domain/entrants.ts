/**
 * The entrants of a round: every account with at least one attempt whose fee was not returned.
 *
 * - While the round is running, an attempt makes its account an entrant from its payment until the
 *   attempt expires or is voided. Its refund is certain from then on, and the account is not an
 *   entrant unless another attempt makes it one.
 * - At the close, open attempts end first. Every other attempt has a score or was refunded by then,
 *   so the number of entrants is the number of players who scored. This number decides whether the
 *   round settles or is cancelled, and `entrant_count` shows it from then on.
 * - A cancelled round returns every fee but keeps its entrants: every account that was one at its
 *   end sees the board, with the refunds.
 * - An account that is not an entrant sees the same board as one that never entered.
 */
import type { AttemptStatus } from '@laurel/attempts/domain';
import type { Tally } from './tournament.ts';

/** The statuses of an attempt that make its account an entrant of a running round. */
export const ENTRANT_STATUSES = ['open', 'settled'] as const satisfies readonly AttemptStatus[];

/**
 * The number of entrants at the close. Open attempts have ended by then, so every remaining entrant
 * has scored.
 */
export function entrantsAtClose(tally: Pick<Tally, 'scoredPlayers'>): number {
  return tally.scoredPlayers;
}
