/**
 * What a player may see of the API's responses: only the members named here, so that a member that
 * the API adds later stays on the server until somebody decides to show it. Left out are
 * `player_ref` (partners may use e-mail addresses), `metadata`, an attempt's score (which the
 * partner's server measured and shows as it likes), how a challenge was calibrated, and whether
 * another player's payout is under review.
 */

import type { Attempt, Challenge, Leaderboard, LeaderboardRow, Round } from './player-shapes.ts';

/** The parts of an API attempt that the player's view and the check of its owner read. */
export interface OwnedAttempt extends Attempt {
  readonly player_ref: string;
}

/**
 * A row of a leaderboard as the API returns it. Every row names its player, and has the members
 * that the view shows only in the player's own row.
 */
type NamedRow = Omit<Required<LeaderboardRow>, 'is_you' | 'name'> & {
  readonly player_ref: string;
  readonly is_player?: boolean | undefined;
};

/** The parts of an API leaderboard, masked or not, that the player's view reads. */
export type AnyLeaderboard =
  | { readonly round: Round; readonly scored_players: number; readonly data: readonly NamedRow[] }
  | {
      readonly locked: true;
      readonly reason: string;
      readonly round: Round;
      readonly scored_players: number;
    };

export function viewChallenge(challenge: Challenge): Challenge {
  return pick(challenge, [
    ...(['id', 'name', 'description', 'fee', 'prize', 'currency', 'status', 'prize_structure', 'threshold'] as const),
    ...(['metric_name', 'metric_unit', 'rung', 'parent_challenge_id'] as const),
  ]);
}

export function viewAttempt(attempt: Attempt): Attempt {
  const { outcome } = attempt;
  return {
    ...pick(attempt, ['id', 'challenge_id', 'tournament_round_id', 'status', 'fee_charged', 'created_at']),
    outcome: outcome && {
      ...pick(outcome, ['met_threshold', 'threshold_applied', 'recorded_at', 'receipt_id']),
      award: outcome.award && pick(outcome.award, ['amount', 'paid_at']),
    },
  };
}

export function viewLeaderboard(board: AnyLeaderboard, names: ReadonlyMap<string, string>): Leaderboard {
  const { scored_players } = board;
  const round = pick(board.round, [
    ...(['id', 'tournament_id', 'tournament_name', 'status', 'opens_at', 'closes_at', 'entries_close_at'] as const),
    ...(['settled_at', 'entry_fee', 'purse_amount', 'purse_table', 'entrant_count'] as const),
    ...(['attempt_cap', 'min_entrants'] as const),
  ]);
  if ('locked' in board) return { locked: true, reason: board.reason, round, scored_players };
  const data = board.data.map((row) => ({
    ...pick(row, ['rank', 'best_score', 'best_tiebreak', 'best_score_at', 'final_rank', 'payout_amount']),
    // Laurel compares accounts, not refs. Two rows may have the same ref: one is from a time when
    // the ref named another account.
    is_you: row.is_player === true,
    name: names.get(row.player_ref) ?? null,
    ...(row.is_player === true && pick(row, ['paid_attempts', 'payout_status'])),
  }));
  return { round, scored_players, data };
}

function pick<Value extends object, Key extends keyof Value>(value: Value, keys: readonly Key[]): Pick<Value, Key> {
  return Object.fromEntries(keys.map((key) => [key, value[key]])) as Pick<Value, Key>;
}
