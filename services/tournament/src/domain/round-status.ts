/**
 * The states of a round (docs/contract/partner-api.md, "Round status"; docs/contract/rules.md, "Tournaments").
 *
 * - `open`: takes entries from `opens_at` until `entries_close_at`, and scores until `closes_at`. Neither instant itself belongs to it:
 *   at `closes_at` exactly the round is over, whether or not its row is marked yet.
 * - `settling`: it was not cancelled. Its ranks and payouts are decided and durable; the payouts are under way.
 * - `settled`: every payout is decided by the wallet and the board is sealed. Final.
 * - `cancelling`: too few entrants or too few scored attempts. The decision to refund every entry is durable; the refunds are under
 *   way. A partner reads `cancelled`.
 * - `cancelled`: every refund is posted. Final.
 */
import { isRefused, type Refused, refused } from '@laurel/errors';
import { isBefore, lastOf, later } from '@laurel/instant';
import { fieldAtClose } from './entrants.ts';
import type { Round, RoundStatus, RoundTerms, Tally } from './tournament.ts';

/** The status that a partner sees. */
export type ShownRoundStatus = 'open' | 'settling' | 'settled' | 'cancelled';

/** Entries, first and further ones, stop this long before the round does. */
export const ENTRIES_CLOSE_BEFORE_MS = 10 * 60 * 1000;

const MOVES: Record<RoundStatus, readonly RoundStatus[]> = {
  open: ['settling', 'cancelling'],
  settling: ['settled'],
  settled: [],
  cancelling: ['cancelled'],
  cancelled: [],
};

const SHOWN: Record<RoundStatus, ShownRoundStatus> = {
  open: 'open',
  settling: 'settling',
  settled: 'settled',
  cancelling: 'cancelled',
  cancelled: 'cancelled',
};

export function canMoveRound(from: RoundStatus, to: RoundStatus): boolean {
  return MOVES[from].includes(to);
}

/** The status that a partner reads. */
export function shownRoundStatus(status: RoundStatus): ShownRoundStatus {
  return SHOWN[status];
}

/** The first instant at which an entry comes too late. A round shorter than ten minutes takes none: the sandbox makes such. */
export function entriesCloseAt({ opensAt, closesAt }: Pick<Round, 'opensAt' | 'closesAt'>): Date {
  return lastOf(opensAt, later(closesAt, -ENTRIES_CLOSE_BEFORE_MS));
}

export function entriesOpen(round: Pick<Round, 'status' | 'opensAt' | 'entriesCloseAt'>, now: Date): boolean {
  return round.status === 'open' && !isBefore(now, round.opensAt) && isBefore(now, round.entriesCloseAt);
}

export function acceptsScores(round: Pick<Round, 'status' | 'closesAt'>, now: Date): boolean {
  return round.status === 'open' && isBefore(now, round.closesAt);
}

/** Whether the round is over and its end is not decided yet. */
export function isCloseDue(round: Pick<Round, 'status' | 'closesAt'>, now: Date): boolean {
  return round.status === 'open' && !isBefore(now, round.closesAt);
}

/**
 * The decision on a round that is over and has no open attempts any more: it settles with enough entrants and enough scored attempts, else
 * it is cancelled.
 */
export function decideClose(
  tally: Pick<Tally, 'scoredPlayers' | 'scoredAttempts'>,
  terms: Pick<RoundTerms, 'minEntrants' | 'minScoredAttempts'>,
): 'settling' | 'cancelling' {
  const runs = fieldAtClose(tally) >= terms.minEntrants && tally.scoredAttempts >= terms.minScoredAttempts;
  return runs ? 'settling' : 'cancelling';
}

/** The sandbox: the round as if its entries closed now. One whose entries have closed is unchanged. */
export function closeEntriesEarly(round: Round, now: Date): Round | Refused {
  if (round.status !== 'open') return refused('conflict', 'The round is not open.');
  if (isBefore(now, round.opensAt)) return refused('conflict', 'The round has not begun.');
  return isBefore(now, round.entriesCloseAt) ? { ...round, entriesCloseAt: now } : round;
}

/**
 * The sandbox: the round as if `closes_at` were now. Whether it settles is still to be decided. One whose end is under way is unchanged,
 * and the caller finishes it.
 */
export function closeEarly(round: Round, now: Date): Round | Refused {
  if (round.status === 'settling' || round.status === 'cancelling') return round;
  const entriesClosed = closeEntriesEarly(round, now);
  if (isRefused(entriesClosed)) return entriesClosed;
  return isBefore(now, round.closesAt) ? { ...entriesClosed, closesAt: now } : round;
}
