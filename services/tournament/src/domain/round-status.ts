/**
 * The states of a round (docs/contract/partner-api.md, "Round status"; docs/contract/rules.md,
 * "Tournaments").
 *
 * - `open`: takes entries from `opens_at` until before `entries_close_at`, and scores until before
 *   `closes_at`. At exactly `closes_at` the round is over, even if its row is not marked yet.
 * - `settling`: was not cancelled. Its ranks and payouts are decided and durable; the payouts are
 *   under way.
 * - `settled`: the wallet has decided every payout, and the board is sealed. Final.
 * - `cancelling`: has too few entrants or too few scored attempts, or an operator cancelled it. The
 *   decision to refund every entry is durable; the refunds are under way. A partner reads
 *   `cancelled`.
 * - `cancelled`: every refund is posted. Final.
 *
 * An operator may cancel a round until it is `settling`. The commit that stores the cancellation
 * ends entries and scores. The round stays `open` until its pending attempts are resolved; it then
 * goes to `cancelling`, whatever its counts.
 */
import { isRefused, type Refused, refused } from '@laurel/errors';
import { firstOf, isBefore, lastOf, later } from '@laurel/values/instant';
import { entrantsAtClose } from './entrants.ts';
import type { Cancellation, Round, RoundStatus, RoundTerms, Tally } from './tournament.ts';

/** The status that a partner reads. */
export type ShownRoundStatus = 'open' | 'settling' | 'settled' | 'cancelled';

/** All entries of a player, the first one and later ones, close this long before the round. */
export const ENTRIES_CLOSE_BEFORE_MS = 10 * 60 * 1000;

const MOVES: Record<RoundStatus, readonly RoundStatus[]> = {
  open: ['settling', 'cancelling'],
  settling: ['settled'],
  settled: [],
  cancelling: ['cancelled'],
  cancelled: [],
};

const WHY_NOT_CANCELLED: Record<Exclude<RoundStatus, 'open'>, string> = {
  settling: 'The round has ended, and its payouts are under way.',
  settled: 'The round is settled.',
  cancelling: 'The round was cancelled at its end.',
  cancelled: 'The round was cancelled at its end.',
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

export function shownRoundStatus(status: RoundStatus): ShownRoundStatus {
  return SHOWN[status];
}

/**
 * The first instant at which an entry is too late. A round shorter than ten minutes, which only the
 * sandbox makes, takes no entries.
 */
export function entriesCloseAt({ opensAt, closesAt }: Pick<Round, 'opensAt' | 'closesAt'>): Date {
  return lastOf(opensAt, later(closesAt, -ENTRIES_CLOSE_BEFORE_MS));
}

export function entriesOpen(round: Pick<Round, 'status' | 'opensAt' | 'entriesCloseAt'>, now: Date): boolean {
  return round.status === 'open' && !isBefore(now, round.opensAt) && isBefore(now, round.entriesCloseAt);
}

export function acceptsScores(round: Pick<Round, 'status' | 'closesAt'>, now: Date): boolean {
  return round.status === 'open' && isBefore(now, round.closesAt);
}

/**
 * Whether the round is over but its end is not decided yet. One that an operator cancelled is over,
 * even before it has begun.
 */
export function isCloseDue(round: Pick<Round, 'status' | 'closesAt' | 'cancellation'>, now: Date): boolean {
  return round.status === 'open' && (!isBefore(now, round.closesAt) || round.cancellation !== null);
}

/**
 * The decision on a round that is over and has no open attempts. Unless an operator cancelled it,
 * it settles with enough entrants and enough scored attempts; otherwise it is cancelled.
 */
export function decideClose(
  tally: Pick<Tally, 'scoredPlayers' | 'scoredAttempts'>,
  {
    cancellation,
    terms,
  }: Pick<Round, 'cancellation'> & { readonly terms: Pick<RoundTerms, 'minEntrants' | 'minScoredAttempts'> },
): 'settling' | 'cancelling' {
  const isEnough = entrantsAtClose(tally) >= terms.minEntrants && tally.scoredAttempts >= terms.minScoredAttempts;
  return cancellation === null && isEnough ? 'settling' : 'cancelling';
}

/**
 * The round as an operator cancels it: its entries and scores end now, or at its opening if that is
 * later. Refuses with `conflict` if the end of the round is decided, and names that decision.
 */
export function cancelRound(round: Round, cancellation: Cancellation): Round | Refused {
  if (round.cancellation !== null) {
    const { by, reason } = round.cancellation;
    return refused('conflict', `The round was cancelled by ${by}: ${reason}`);
  }
  if (round.status !== 'open') return refused('conflict', WHY_NOT_CANCELLED[round.status]);
  const end = lastOf(round.opensAt, cancellation.at);
  return {
    ...round,
    cancellation,
    entriesCloseAt: firstOf(round.entriesCloseAt, end),
    closesAt: firstOf(round.closesAt, end),
  };
}

/**
 * Closes a sandbox round's entries now. If the entries have closed already, the round is
 * unchanged.
 */
export function closeEntriesEarly(round: Round, now: Date): Round | Refused {
  if (round.status !== 'open') return refused('conflict', 'The round is not open.');
  if (isBefore(now, round.opensAt)) return refused('conflict', 'The round has not begun.');
  return isBefore(now, round.entriesCloseAt) ? { ...round, entriesCloseAt: now } : round;
}

/**
 * Sets `closes_at` of a sandbox round to now. Whether the round settles is decided later. A round
 * that is settling or cancelling is unchanged, and the caller finishes it.
 */
export function closeEarly(round: Round, now: Date): Round | Refused {
  if (round.status === 'settling' || round.status === 'cancelling') return round;
  const entriesClosed = closeEntriesEarly(round, now);
  if (isRefused(entriesClosed)) return entriesClosed;
  return isBefore(now, round.closesAt) ? { ...entriesClosed, closesAt: now } : round;
}
