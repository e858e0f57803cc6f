/**
 * The attempts that FindOpenAttempts considers. Each contest service's statement finds these
 * candidates by its own indexes.
 */
import type { PendingAttempt } from './sweeps.ts';

/** A player's ref, and the account that the ref names; null if it names none. */
export type PlayerOfContest = {
  readonly contestId: string;
  readonly accountId: string | null;
  readonly playerRef: string;
};

/** An attempt that is `open` or `pending`. */
export type OpenCandidate = Omit<PendingAttempt, 'environment'> & { readonly isPending: boolean };

/**
 * The most candidates to read per player. This is more than the open attempts to return, because
 * some candidates may prove unpaid.
 */
export const MAX_OPEN_CANDIDATES = 12;

/** `position` is the player's place in the statement's list of players, from 1. */
export type CandidateRow = {
  readonly position: number;
  readonly id: string;
  readonly status: 'open' | 'pending';
  readonly fee_generation: number;
  readonly created_at: Date;
};

/**
 * Groups the rows by player: one list per player, in the order of the players. Each list keeps the
 * order of the rows.
 */
export function candidatesByPlayer(
  rows: readonly CandidateRow[],
  players: readonly PlayerOfContest[],
): readonly (readonly OpenCandidate[])[] {
  const candidates = players.map((): OpenCandidate[] => []);
  for (const { position, id, status, fee_generation: feeGeneration, created_at: createdAt } of rows) {
    candidates[position - 1]?.push({ id, feeGeneration, createdAt, isPending: status === 'pending' });
  }
  return candidates;
}
