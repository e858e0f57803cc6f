// Derived from docs/openapi/partner-v1.yaml by `npm run sdk-types`. Do not edit.

/** The codes of the error envelope: a closed set. */
export type ApiErrorCode =
  | 'invalid_request'
  | 'unauthorized'
  | 'insufficient_funds'
  | 'blocked'
  | 'insider_entry'
  | 'not_found'
  | 'challenge_not_available'
  | 'challenge_already_claimed'
  | 'rung_locked'
  | 'attempt_cap_reached'
  | 'entries_closed'
  | 'round_closed'
  | 'attempt_already_settled'
  | 'idempotency_key_reused'
  | 'idempotency_in_progress'
  | 'score_out_of_range'
  | 'tiebreak_required'
  | 'internal_error';

export type WebhookTest = {
  event: 'webhook.test';
  timestamp: string;
  data: {
    message: string;
  };
};

export type AttemptSettled = {
  event: 'attempt.settled';
  timestamp: string;
  data: {
    attempt_id: string;
    /** Null for an attempt in a round. */
    challenge_id: string | null;
    /** Null for an attempt against a challenge. */
    tournament_round_id: string | null;
    /** The ref that played. */
    player_ref: string;
    score: number;
    met_threshold: boolean;
    /** Present only when the bar was cleared. */
    award: EventAward | null;
    recorded_at: string;
    /** Present in the sandbox. */
    test?: true | undefined;
  };
};

/** Amounts of events are JSON numbers. */
export type EventAward = {
  id: string;
  /** USD, a JSON number with two decimals. */
  amount: number;
  payout_status: 'paid' | 'held' | (string & {});
};

export type AttemptRefunded = {
  event: 'attempt.refunded';
  timestamp: string;
  data: {
    attempt_id: string;
    /** Null for an attempt in a round. */
    challenge_id: string | null;
    /** Null for an attempt against a challenge. */
    tournament_round_id: string | null;
    /** The ref that played. */
    player_ref: string;
    /** USD, a JSON number with two decimals. */
    amount: number;
    reason: 'expired' | 'round_closed' | 'round_cancelled' | 'voided' | (string & {});
    /** Present in the sandbox. */
    test?: true | undefined;
  };
};

export type ChallengeSuspended = {
  event: 'challenge.suspended';
  timestamp: string;
  data: {
    challenge_id: string;
    name: string;
    /** Present in the sandbox. */
    test?: true | undefined;
  };
};

export type RoundSettled = {
  event: 'round.settled';
  timestamp: string;
  data: {
    tournament_round_id: string;
    tournament_id: string;
    /** Players with a final rank. */
    ranked_players: number;
    /** What the ranks won together, paid or held: USD, a JSON number. */
    purse: number;
    /** Present in the sandbox. */
    test?: true | undefined;
  };
};

export type RoundCancelled = {
  event: 'round.cancelled';
  timestamp: string;
  data: {
    tournament_round_id: string;
    tournament_id: string;
    /** Present in the sandbox. */
    test?: true | undefined;
  };
};

export type AwardReleased = {
  event: 'award.released';
  timestamp: string;
  data: {
    award: EventAward;
    /** Null for a rank of a round. */
    attempt_id: string | null;
    /** Null for an attempt in a round. */
    challenge_id: string | null;
    /** Null for an attempt against a challenge. */
    tournament_round_id: string | null;
    /** The ref that played. */
    player_ref: string;
    /** Present in the sandbox. */
    test?: true | undefined;
  };
};

export type ChallengeList = {
  data: Array<Challenge>;
};

export type Challenge = {
  /** Value sent as `challenge_id`. */
  id: string;
  name: string;
  description: string | null;
  /** Cost of one paid attempt; `0.00` while calibrating. */
  fee: string;
  /** Prize on offer to this player now. */
  prize: string;
  currency: 'USD';
  status: 'calibrating' | 'live' | 'suspended' | 'closed' | (string & {});
  prize_structure: 'threshold' | 'top_n' | (string & {});
  /** The bar; null while calibrating. */
  threshold: number | null;
  min_calibration_n: number;
  calibration_source: 'observed' | 'listened' | 'partner_seeded' | 'rung_derived' | (string & {});
  metric_name: string;
  metric_unit: string;
  /** Position in a ladder; `1` for an ordinary challenge. */
  rung: number;
  parent_challenge_id: string | null;
  /** Present only while the go-live ramp caps the prize. */
  ramp?:
    | {
        active: true;
        /** The prize once the cap has lifted. */
        fullPrize: string;
        /** Settled paid attempts so far. */
        attemptsSeen: number;
        attemptsRequired: number;
      }
    | undefined;
  /** Present only while calibrating. */
  calibration?:
    | {
        collected: number;
        required: number;
        playersCollected: number;
        playersRequired: number;
      }
    | undefined;
};

export type SeededChallenge = {
  challenge_id: string;
  /** The bar that follows. */
  threshold: number;
  /** The share of attempts that are to clear it. */
  target_pass_rate: number;
  /** As sent. */
  sample_size: number;
  calibration_source: 'partner_seeded';
  provisional: true;
  /** For people; its wording may change at any time. */
  note: string;
};

export type DistributionRequest = {
  distribution: Distribution;
  /** How many scores the percentiles were taken of. */
  sample_size: number;
};

/** Percentiles of the game's scores, in the units of the metric. */
export type Distribution = {
  /** Each above the one before. */
  p5: number;
  /** Each above the one before. */
  p25: number;
  /** Each above the one before. */
  p50: number;
  /** Each above the one before. */
  p75: number;
  /** Each above the one before. */
  p95: number;
};

export type PlayerLink = {
  player_ref: string;
  linked: true;
  created_at: string;
};

export type PlayerLinkRequest = {
  /** The partner's own identifier of a player. */
  player_ref: string;
  /** The e-mail of the player's existing account. */
  email: string;
};

export type Attempt = {
  id: string;
  challenge_id: string | null;
  tournament_round_id: string | null;
  player_ref: string;
  status: 'open' | 'settled' | 'expired' | 'voided' | (string & {});
  /** USD, two places. */
  fee_charged: string;
  created_at: string;
  metadata: Record<string, unknown>;
  /** Null while open, and for ever where there is none. */
  outcome: AttemptOutcome | null;
};

export type AttemptOutcome = {
  attempt_id: string;
  score: number;
  met_threshold: boolean;
  threshold_applied: number | null;
  recorded_at: string;
  receipt_id: string;
  award: Award | null;
};

export type Award = {
  id: string;
  /** USD, two places. */
  amount: string;
  paid_at: string | null;
};

export type AttemptRequest = {
  /** The partner's own identifier of a player. */
  player_ref: string;
  /** At most 16 KiB, stored as sent. */
  metadata?: Record<string, unknown> | undefined;
} & (
  | {
      /** Exactly one of the two: a fixed-prize challenge. */
      challenge_id: string;
      tournament_round_id?: never;
    }
  | {
      /** Exactly one of the two: a place in a round's rank table. */
      tournament_round_id: string;
      challenge_id?: never;
    }
);

export type Outcome = {
  attempt_id: string;
  score: number;
  met_threshold: boolean;
  threshold_applied: number | null;
  recorded_at: string;
  receipt_id: string;
  /** Present only when the bar was cleared. */
  award: PaidAward | null;
};

export type PaidAward = {
  id: string;
  /** USD, two places. */
  amount: string;
  paid_at: string | null;
  /** Reconcile paid winnings on `paid`, never on the presence of an award. */
  payout_status: 'paid' | 'held' | (string & {});
};

export type OutcomeRequest = {
  /** In the units of the challenge's or tournament's metric. */
  score: number;
  /** Needed when the tournament declares a tiebreak metric. Ignored on challenge attempts. */
  tiebreak?: number | undefined;
  /** At most 64 KiB, stored as sent. */
  evidence?: Record<string, unknown> | undefined;
};

export type TournamentList = {
  data: Array<Tournament>;
};

export type Tournament = {
  id: string;
  name: string;
  description: string | null;
  metric_name: string;
  metric_unit: string;
  threshold_direction: 'higher_is_better' | 'lower_is_better' | (string & {});
  /** Flat per attempt; entry and re-buy cost the same. */
  entry_fee: string;
  /** Paid attempts that one player may buy per round. */
  attempt_cap: number;
  status: 'active' | 'paused' | 'closed' | (string & {});
  created_at: string;
  /** The open round, else the most recent one; null only before the first. */
  current_round: Round | null;
};

export type Round = {
  /** Value sent as `tournament_round_id`. */
  id: string;
  tournament_id: string;
  tournament_name: string | null;
  status: 'open' | 'settling' | 'settled' | 'cancelled' | (string & {});
  opens_at: string;
  /** Scores are accepted until then, the instant excluded. */
  closes_at: string;
  /** Entries and re-buys are accepted until then: ten minutes before `closes_at`. */
  entries_close_at: string;
  /** When standings became final. */
  settled_at: string | null;
  /** USD, two places. */
  entry_fee: string;
  funding: 'house';
  /** The sum of `purse_table`, frozen when the round opened. */
  purse_amount: string;
  purse_table: Array<PurseRow>;
  /** Legacy: never compute prizes from it. */
  pool_amount: '0.00';
  /** Legacy. */
  rollover_in: '0.00';
  /**
   * Distinct players with at least one attempt whose fee was not returned; once the round is over, those who scored.
   */
  entrant_count: number;
  /** Paid attempts per player in this round. */
  attempt_cap: number;
  min_entrants: number;
  /** `0`: no gate. */
  min_scored_attempts: number;
};

export type PurseRow = {
  rank: number;
  /** USD, two places. */
  amount: string;
};

export type Leaderboard = {
  round: Round;
  /** Distinct players who posted a score: the length of the full table. */
  scored_players: number;
  data: Array<LeaderboardRow>;
};

export type LeaderboardRow = {
  /** Final once the round is `settled`. */
  rank: number;
  player_ref: string;
  best_score: number;
  /** Of the run that holds `best_score`. */
  best_tiebreak: number | null;
  best_score_at: string;
  paid_attempts: number;
  /** Null before settlement. */
  final_rank: number | null;
  /** Null: not decided. `0.00`: decided to be nothing. */
  payout_amount: string | null;
  payout_status: 'none' | 'paid' | 'held' | 'refunded' | (string & {});
};

export type MaskedLeaderboard = {
  locked: true;
  reason: 'enter_to_see';
  round: Round;
  entrant_count: number;
  /** Distinct players who posted a score: the length of the full table. */
  scored_players: number;
  min_entrants: number;
  min_scored_attempts: number;
  /** The sum of `purse_table`, frozen when the round opened. */
  purse_amount: string;
  purse_table: Array<PurseRow>;
  closes_at: string;
};

/** The last three members: for `push_webhook` alone. */
export type NewIntegration = {
  id: string;
  transport: 'push_webhook' | 'pull_poll' | 'sdk_direct' | (string & {});
  status: 'draft' | 'active' | 'suspended' | (string & {});
  /** As it was sent, without the secret values of `pull.auth`. */
  descriptor: Record<string, unknown>;
  /** Whether a push can be verified. */
  has_signing_secret: boolean;
  /** For `pull_poll` alone. */
  pull_interval_seconds: number | null;
  last_polled_at: string | null;
  next_poll_at: string | null;
  /** Polls that failed since the last one that did not. */
  consecutive_failures: number;
  /** The kind of the latest failure, for example `timeout`. */
  last_poll_error: string | null;
  created_at: string;
  /** Shown by this answer alone. Its 64 characters are the key. */
  signing_secret?: string | undefined;
  /** A path of this host. */
  webhook_url?: string | undefined;
  signing_instructions?: string | undefined;
};

export type IntegrationRequest = {
  /**
   * `push_webhook`: the partner posts outcomes and gets a signing secret. `pull_poll`: Laurel polls a URL of the
   * partner. `sdk_direct`: the partner calls `/v1`; nothing to configure.
   */
  transport: 'push_webhook' | 'pull_poll' | 'sdk_direct';
  /** How the payloads of the partner are read; at most 16 KiB. `{}` reads the canonical body. */
  descriptor?: Record<string, unknown> | undefined;
  /** For `pull_poll` alone. */
  pull_interval_seconds?: number | undefined;
};

export type IntegrationList = {
  data: Array<Integration>;
};

export type Integration = {
  id: string;
  transport: 'push_webhook' | 'pull_poll' | 'sdk_direct' | (string & {});
  status: 'draft' | 'active' | 'suspended' | (string & {});
  /** As it was sent, without the secret values of `pull.auth`. */
  descriptor: Record<string, unknown>;
  /** Whether a push can be verified. */
  has_signing_secret: boolean;
  /** For `pull_poll` alone. */
  pull_interval_seconds: number | null;
  last_polled_at: string | null;
  next_poll_at: string | null;
  /** Polls that failed since the last one that did not. */
  consecutive_failures: number;
  /** The kind of the latest failure, for example `timeout`. */
  last_poll_error: string | null;
  created_at: string;
};

export type IntegrationChange = {
  /** How the payloads of the partner are read; at most 16 KiB. `{}` reads the canonical body. */
  descriptor?: Record<string, unknown> | undefined;
  status?: 'draft' | 'active' | 'suspended' | undefined;
  pull_interval_seconds?: number | undefined;
};

export type RotatedIntegration = {
  id: string;
  transport: 'push_webhook' | 'pull_poll' | 'sdk_direct' | (string & {});
  status: 'draft' | 'active' | 'suspended' | (string & {});
  /** As it was sent, without the secret values of `pull.auth`. */
  descriptor: Record<string, unknown>;
  /** Whether a push can be verified. */
  has_signing_secret: boolean;
  /** For `pull_poll` alone. */
  pull_interval_seconds: number | null;
  last_polled_at: string | null;
  next_poll_at: string | null;
  /** Polls that failed since the last one that did not. */
  consecutive_failures: number;
  /** The kind of the latest failure, for example `timeout`. */
  last_poll_error: string | null;
  created_at: string;
  /** Shown by this answer alone. Its 64 characters are the key. */
  signing_secret: string;
  note: string;
};

export type PushResults = {
  results: Array<PushResult>;
};

export type PushResult = {
  /** The place of the record in the body, from 0. */
  index: number;
  /** Null when no attempt was found. */
  attempt_id: string | null;
  /**
   * `duplicate`: settled before by the same report. `ignored`: the descriptor leaves it out. `listened`: a score without
   * an attempt, kept for the calibration of its challenge.
   */
  status: 'settled' | 'duplicate' | 'ignored' | 'rejected' | 'listened' | (string & {});
  /** Why it was rejected. */
  code?: string | undefined;
};

export type KeyList = {
  keys: Array<{
    /** The thumbprint of the key (RFC 7638), in base64url. */
    key_id: string;
    algorithm: 'Ed25519';
    /** SPKI DER in base64. */
    public_key: string;
    /** When it was first used. */
    from: string;
    /** When it was replaced; null while it is in use. It may lie a minute ahead. */
    until: string | null;
  }>;
};
