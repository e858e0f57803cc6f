/**
 * The states of a round (partner API, "Round status"; decisions, "Tournaments").
 *
 * - `open`: takes entries from `opens_at` until `entries_close_at`, and scores until `closes_at`. Neither instant itself belongs to it:
 *   at `closes_at` exactly the round is over, whether or not anyone has marked it.
 * - `settling`: it ran. Its ranks and payouts are decided and durable; the money is on its way.
 * - `settled`: every payout is decided by the wallet and the board is sealed. Final.
 * - `cancelling`: too few entrants or too few scored attempts. That every entry is refunded is decided; the refunds are on their way.
 *   A partner reads `cancelled`.
 * - `cancelled`: every refund is posted. Final.
 */
import { isRefused, type Refused, refused } from '@laurel/errors';
import type { Round, RoundStatus, RoundTerms, Tally } from './tournament.ts';

/** What a partner sees. */
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

/** The word that a partner reads. */
export function shownRoundStatus(status: RoundStatus): ShownRoundStatus {
  return SHOWN[status];
}

/** The first instant at which an entry comes too late. A round shorter than ten minutes takes none. */
export function entriesCloseAt({ opensAt, closesAt }: Pick<Round, 'opensAt' | 'closesAt'>): Date {
  return new Date(Math.max(opensAt.getTime(), closesAt.getTime() - ENTRIES_CLOSE_BEFORE_MS));
}

export function entriesOpen(round: Pick<Round, 'status' | 'opensAt' | 'entriesCloseAt'>, now: Date): boolean {
  return round.status === 'open' && now >= round.opensAt && now < round.entriesCloseAt;
}

export function acceptsScores(round: Pick<Round, 'status' | 'closesAt'>, now: Date): boolean {
  return round.status === 'open' && now < round.closesAt;
}

/** Whether the round is over and nobody has decided what becomes of it. */
export function isCloseDue(round: Pick<Round, 'status' | 'closesAt'>, now: Date): boolean {
  return round.status === 'open' && now >= round.closesAt;
}

/** What becomes of a round that is over: it runs with enough entrants and enough scored attempts. */
export function decideClose(
  tally: Pick<Tally, 'entrants' | 'scoredAttempts'>,
  terms: Pick<RoundTerms, 'minEntrants' | 'minScoredAttempts'>,
): 'settling' | 'cancelling' {
  const runs = tally.entrants >= terms.minEntrants && tally.scoredAttempts >= terms.minScoredAttempts;
  return runs ? 'settling' : 'cancelling';
}

/** The sandbox: the round as if its entries closed now. One in which they have closed stays as it is. */
export function closeEntriesEarly(round: Round, now: Date): Round | Refused {
  if (round.status !== 'open') return refused('conflict', 'The round is not open.');
  if (now < round.opensAt) return refused('conflict', 'The round has not begun.');
  return now < round.entriesCloseAt ? { ...round, entriesCloseAt: now } : round;
}

/**
 * The sandbox: the round as if `closes_at` were now. What becomes of it then is still to be decided. One whose end is under way stays as it
 * is, and is to be brought to it.
 */
export function closeEarly(round: Round, now: Date): Round | Refused {
  if (round.status === 'settling' || round.status === 'cancelling') return round;
  const entriesClosed = closeEntriesEarly(round, now);
  if (isRefused(entriesClosed)) return entriesClosed;
  return now < round.closesAt ? { ...entriesClosed, closesAt: now } : round;
}
