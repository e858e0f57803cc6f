// A copy of libs/sdk/src/player-shapes.ts, by `npm run player-shapes`. Do not edit.

/**
 * What the partner's server shows a player: the responses of `createPlayerHandler`, which
 * `@laurel/browser` reads. Amounts are decimal strings in USD (`"5.00"`), instants ISO 8601 in UTC.
 * Members may be added; the statuses are open sets.
 *
 * `npm run player-shapes` copies this file to `@laurel/browser`, because each package is installed
 * without the other.
 */

/** A challenge that the player may attempt now. */
export interface Challenge {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly fee: string;
  /** What this player can win now. */
  readonly prize: string;
  readonly currency: string;
  readonly status: string;
  readonly prize_structure: string;
  /** The bar; null while the challenge is calibrating. */
  readonly threshold: number | null;
  readonly metric_name: string;
  readonly metric_unit: string;
  readonly rung: number;
  readonly parent_challenge_id: string | null;
}

/** A paid attempt without its score, which the partner's server shows as it likes. */
export interface Attempt {
  readonly id: string;
  /** Exactly one of the two is set. */
  readonly challenge_id: string | null;
  readonly tournament_round_id: string | null;
  /** `open`, `settled`, `expired` (the fee was refunded) or `voided`. */
  readonly status: string;
  readonly fee_charged: string;
  readonly created_at: string;
  /** Null while the attempt is open. */
  readonly outcome: {
    /** Laurel's decision; always false in a round, which ranks instead. */
    readonly met_threshold: boolean;
    readonly threshold_applied: number | null;
    readonly recorded_at: string;
    /** Quote it in a dispute. */
    readonly receipt_id: string;
    /**
     * The prize, if the bar was cleared. It is paid when `paid_at` is set, and under review until
     * then.
     */
    readonly award: { readonly amount: string; readonly paid_at: string | null } | null;
  } | null;
}

export interface Round {
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

export interface LeaderboardRow {
  readonly rank: number;
  readonly is_you: boolean;
  /** The partner's name for this player; null if it gives none. */
  readonly name: string | null;
  readonly best_score: number;
  readonly best_tiebreak: number | null;
  readonly best_score_at: string;
  readonly final_rank: number | null;
  readonly payout_amount: string | null;
  /** Only in the player's own row. */
  readonly paid_attempts?: number;
  /** Only in the player's own row: `none`, `paid`, `held` or `refunded`. */
  readonly payout_status?: string;
}

/**
 * While the round runs, `data` is the player's own row and its neighbours. For a player who has not
 * entered, the board is locked.
 */
export type Leaderboard =
  | {
      readonly locked?: never;
      readonly round: Round;
      readonly scored_players: number;
      readonly data: readonly LeaderboardRow[];
    }
  | { readonly locked: true; readonly reason: string; readonly round: Round; readonly scored_players: number };
