/**
 * What a player may see of the API's answers: the members named here and no others, so that a member that the API adds later stays on the
 * server until somebody has decided. Left out are `player_ref` (a partner may use e-mail addresses), what a partner keeps in `metadata`,
 * the score of an attempt, which the partner's server measured and shows as it likes, how a challenge was calibrated, and whether the payout
 * of somebody else is under review.
 */

export interface PlayerChallenge {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly fee: string;
  readonly prize: string;
  readonly currency: string;
  readonly status: string;
  readonly prize_structure: string;
  readonly threshold: number | null;
  readonly metric_name: string;
  readonly metric_unit: string;
  readonly rung: number;
  readonly parent_challenge_id: string | null;
}

interface PlayerAward {
  readonly amount: string;
  readonly paid_at: string | null;
}

interface PlayerOutcome<Award> {
  readonly met_threshold: boolean;
  readonly threshold_applied: number | null;
  readonly recorded_at: string;
  readonly receipt_id: string;
  readonly award: Award | null;
}

export interface PlayerAttempt {
  readonly id: string;
  readonly challenge_id: string | null;
  readonly tournament_round_id: string | null;
  readonly status: string;
  readonly fee_charged: string;
  readonly created_at: string;
  readonly outcome: PlayerOutcome<PlayerAward> | null;
}

export interface PlayerRound {
  readonly id: string;
  readonly tournament_id: string;
  readonly tournament_name: string | null;
  readonly status: string;
  readonly opens_at: string;
  readonly closes_at: string;
  readonly entries_close_at: string;
  readonly settled_at: string | null;
  readonly entry_fee: string;
  readonly purse_amount: string;
  readonly purse_table: readonly { readonly rank: number; readonly amount: string }[];
  readonly entrant_count: number;
  readonly attempt_cap: number;
  readonly min_entrants: number;
}

interface PublicRow {
  readonly rank: number;
  readonly best_score: number;
  readonly best_tiebreak: number | null;
  readonly best_score_at: string;
  readonly final_rank: number | null;
  readonly payout_amount: string | null;
}

interface OwnRow {
  readonly paid_attempts: number;
  readonly payout_status: string;
}

export interface PlayerLeaderboardRow extends PublicRow, Partial<OwnRow> {
  readonly is_you: boolean;
  /** As `playerNames` names this player; null where it does not. */
  readonly name: string | null;
}

export type PlayerLeaderboard =
  | {
      readonly locked?: never;
      readonly round: PlayerRound;
      readonly scored_players: number;
      readonly data: readonly PlayerLeaderboardRow[];
    }
  | { readonly locked: true; readonly reason: string; readonly round: PlayerRound; readonly scored_players: number };

/** An attempt of the API, as far as the player's view and the check of its owner read it. */
export interface OwnedAttempt extends PlayerAttempt {
  readonly player_ref: string;
}

interface NamedRow extends PublicRow, OwnRow {
  readonly player_ref: string;
}

/** A leaderboard of the API, masked or not, as far as the player's view reads it. */
export type AnyLeaderboard =
  | { readonly round: PlayerRound; readonly scored_players: number; readonly data: readonly NamedRow[] }
  | {
      readonly locked: true;
      readonly reason: string;
      readonly round: PlayerRound;
      readonly scored_players: number;
    };

export function viewChallenge(challenge: PlayerChallenge): PlayerChallenge {
  return pick(challenge, [
    ...(['id', 'name', 'description', 'fee', 'prize', 'currency', 'status', 'prize_structure', 'threshold'] as const),
    ...(['metric_name', 'metric_unit', 'rung', 'parent_challenge_id'] as const),
  ]);
}

export function viewAttempt(attempt: PlayerAttempt): PlayerAttempt {
  const { outcome } = attempt;
  return {
    ...pick(attempt, ['id', 'challenge_id', 'tournament_round_id', 'status', 'fee_charged', 'created_at']),
    outcome: outcome && {
      ...pick(outcome, ['met_threshold', 'threshold_applied', 'recorded_at', 'receipt_id']),
      award: outcome.award && pick(outcome.award, ['amount', 'paid_at']),
    },
  };
}

export function viewLeaderboard(
  board: AnyLeaderboard,
  playerRef: string,
  names: ReadonlyMap<string, string>,
): PlayerLeaderboard {
  const { scored_players } = board;
  const round = pick(board.round, [
    ...(['id', 'tournament_id', 'tournament_name', 'status', 'opens_at', 'closes_at', 'entries_close_at'] as const),
    ...(['settled_at', 'entry_fee', 'purse_amount', 'purse_table', 'entrant_count'] as const),
    ...(['attempt_cap', 'min_entrants'] as const),
  ]);
  if ('locked' in board) return { locked: true, reason: board.reason, round, scored_players };
  const data = board.data.map((row) => ({
    ...pick(row, ['rank', 'best_score', 'best_tiebreak', 'best_score_at', 'final_rank', 'payout_amount']),
    is_you: row.player_ref === playerRef,
    name: names.get(row.player_ref) ?? null,
    ...(row.player_ref === playerRef && pick(row, ['paid_attempts', 'payout_status'])),
  }));
  return { round, scored_players, data };
}

function pick<Value extends object, Key extends keyof Value>(value: Value, keys: readonly Key[]): Pick<Value, Key> {
  return Object.fromEntries(keys.map((key) => [key, value[key]])) as Pick<Value, Key>;
}
