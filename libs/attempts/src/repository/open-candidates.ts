/**
 * The candidates of FindOpenAttempts. Each contest service's statement finds them by its own
 * indexes.
 */
import type { PendingAttempt } from './sweeps.ts';

/** A player's ref, and the account that it names, if any. */
export type PlayerOfContest = {
  readonly contestId: string;
  readonly accountId: string | null;
  readonly playerRef: string;
};

/** An attempt that is `open` or `pending`. */
export type OpenCandidate = Omit<PendingAttempt, 'environment'> & { readonly isPending: boolean };

/**
 * The candidates that are read of one player: the open ones that are returned, and room for some
 * that were never paid for.
 */
export const MAX_OPEN_CANDIDATES = 12;

/** `position` is the player's, among the players of the statement, from 1. */
export type CandidateRow = {
  readonly position: number;
  readonly id: string;
  readonly status: 'open' | 'pending';
  readonly fee_generation: number;
  readonly created_at: Date;
};

/**
 * The candidates of each player, in order; a player's candidates are in the order of their rows.
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
