// Derived from docs/openapi/partner-v1.yaml and docs/openapi/portal-api.yaml by `npm run sdk-types`. Do not edit.

/** Branch on this, never on the message. The set is closed. */
export type ErrorCode =
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

/** USD, a decimal string with two places: never a JSON number. */
export type Amount = string;

export type Attempt = {
  id: string;
  /** Null for an attempt in a round. */
  challenge_id: string | null;
  /** Null for an attempt against a challenge. */
  tournament_round_id: string | null;
  player_ref: string;
  status: AttemptStatus | (string & {});
  /** The fee that was charged; `0.00` for a free attempt. */
  fee_charged: Amount;
  created_at: string;
  /** The metadata that was sent; `{}` if none was, or once the attempt is archived. */
  metadata: Record<string, unknown>;
  /** Null while the attempt is open, and if it ended without an outcome. */
  outcome: AttemptOutcome | null;
};

/** An award as its attempt shows it. */
export type AttemptAward = {
  id: string;
  amount: Amount;
  /** Null while the award is held. */
  paid_at: string | null;
};

/** An outcome as its attempt shows it. */
export type AttemptOutcome = {
  attempt_id: string;
  score: number;
  met_threshold: boolean;
  threshold_applied: number | null;
  recorded_at: string;
  receipt_id: string;
  /** Present only when the bar was cleared. */
  award: AttemptAward | null;
};

/** A charged fee was returned. A free attempt sends no such event. */
export type AttemptRefundedEvent = {
  event: 'attempt.refunded';
  /** When the event happened: the same at every attempt of the delivery. */
  timestamp: string;
  data: AttemptRefundedEventData;
};

export type AttemptRefundedEventData = {
  attempt_id: string;
  /** Null for an attempt in a round. */
  challenge_id: string | null;
  /** Null for an attempt against a challenge. */
  tournament_round_id: string | null;
  /** The `player_ref` that played. */
  player_ref: string;
  /** USD, a JSON number with two decimals. */
  amount: number;
  reason: RefundReason | (string & {});
  /** Present in the sandbox. */
  test?: true | undefined;
};

/** Exactly one parent: a challenge, or a round. */
export type AttemptRequest =
  | (ChallengeAttemptRequest & { tournament_round_id?: never })
  | (RoundAttemptRequest & { challenge_id?: never });

/** An outcome was recorded. Re-read the attempt rather than rebuilding it from here. */
export type AttemptSettledEvent = {
  event: 'attempt.settled';
  /** When the event happened: the same at every attempt of the delivery. */
  timestamp: string;
  data: AttemptSettledEventData;
};

export type AttemptSettledEventData = {
  attempt_id: string;
  /** Null for an attempt in a round. */
  challenge_id: string | null;
  /** Null for an attempt against a challenge. */
  tournament_round_id: string | null;
  /** The `player_ref` that played. */
  player_ref: string;
  score: number;
  met_threshold: boolean;
  /** Present only when the bar was cleared. */
  award: WebhookAward | null;
  recorded_at: string;
  /** Present in the sandbox. */
  test?: true | undefined;
};

export type AttemptStatus = 'open' | 'settled' | 'expired' | 'voided';

export type Award = {
  id: string;
  amount: Amount;
  /** Null while the award is held. */
  paid_at: string | null;
  payout_status: AwardPayoutStatus | (string & {});
};

/**
 * `held`: the award is withheld for review, and no money has moved. Reconcile paid winnings on `paid`, never on the
 * presence of an award.
 */
export type AwardPayoutStatus = 'paid' | 'held';

/** A win that was held for review is paid. */
export type AwardReleasedEvent = {
  event: 'award.released';
  /** When the event happened: the same at every attempt of the delivery. */
  timestamp: string;
  data: AwardReleasedEventData;
};

export type AwardReleasedEventData = {
  award: WebhookAward;
  /** Null for a rank of a round. */
  attempt_id: string | null;
  /** Null for an attempt in a round. */
  challenge_id: string | null;
  /** Null for an attempt against a challenge. */
  tournament_round_id: string | null;
  /** The `player_ref` that played. */
  player_ref: string;
  /** Present in the sandbox. */
  test?: true | undefined;
};

export type CalibrationProgress = {
  /** Scores so far. */
  collected: number;
  required: number;
  /** Players with these scores. */
  playersCollected: number;
  playersRequired: number;
};

/** Where the bar comes from, or will come from. */
export type CalibrationSource = 'observed' | 'listened' | 'partner_seeded' | 'rung_derived';

export type Challenge = {
  /** The value to send as `challenge_id`. */
  id: string;
  name: string;
  description: string | null;
  /** Cost of one paid attempt; `0.00` while calibrating. */
  fee: Amount;
  /** Prize on offer to this player now. */
  prize: Amount;
  currency: 'USD';
  status: ChallengeStatus | (string & {});
  prize_structure: PrizeStructure | (string & {});
  /** The bar; null while calibrating. */
  threshold: number | null;
  min_calibration_n: number;
  calibration_source: CalibrationSource | (string & {});
  metric_name: string;
  metric_unit: string;
  /** Position in a ladder; `1` for an ordinary challenge. */
  rung: number;
  parent_challenge_id: string | null;
  /** Present only while the go-live ramp caps the prize. */
  ramp?: Ramp | undefined;
  /** Present only while calibrating. */
  calibration?: CalibrationProgress | undefined;
};

/** An attempt for the fixed prize of a challenge. */
export type ChallengeAttemptRequest = {
  /** The `id` of a challenge. */
  challenge_id: string;
  /** The partner's own identifier of a player. */
  player_ref: string;
  /** At most 16 KiB, stored as sent. */
  metadata?: Record<string, unknown> | undefined;
};

export type ChallengeList = {
  data: Array<Challenge>;
};

export type ChallengeStatus = 'calibrating' | 'live' | 'suspended' | 'closed';

/** A challenge was suspended: it accepts no attempts until it is reinstated. */
export type ChallengeSuspendedEvent = {
  event: 'challenge.suspended';
  /** When the event happened: the same at every attempt of the delivery. */
  timestamp: string;
  data: ChallengeSuspendedEventData;
};

export type ChallengeSuspendedEventData = {
  challenge_id: string;
  name: string;
  /** Present in the sandbox. */
  test?: true | undefined;
};

/** The last three members are present only for `push_webhook`. */
export type CreatedIntegration = {
  id: string;
  transport: Transport | (string & {});
  status: IntegrationStatus | (string & {});
  /** The descriptor that was sent, without the secret values of `pull.auth`. */
  descriptor: Descriptor;
  /** Whether Laurel can verify a push. */
  has_signing_secret: boolean;
  /** Null unless the transport is `pull_poll`. */
  pull_interval_seconds: number | null;
  last_polled_at: string | null;
  next_poll_at: string | null;
  /** Failed polls since the last successful one. */
  consecutive_failures: number;
  /** The kind of the latest failure, such as `timeout`. */
  last_poll_error: string | null;
  created_at: string;
  /** Only this response shows the secret. Its 64 characters are the key. */
  signing_secret?: string | undefined;
  /** A path on this host. */
  webhook_url?: string | undefined;
  signing_instructions?: string | undefined;
};

/** How Laurel reads the partner's payloads; at most 16 KiB. `{}` reads the canonical body. */
export type Descriptor = Record<string, unknown>;

/** Percentiles of the game's scores, in the units of the metric. */
export type Distribution = {
  /** Each percentile is above the one before. */
  p5: number;
  /** Each percentile is above the one before. */
  p25: number;
  /** Each percentile is above the one before. */
  p50: number;
  /** Each percentile is above the one before. */
  p75: number;
  /** Each percentile is above the one before. */
  p95: number;
};

export type DistributionRequest = {
  distribution: Distribution;
  /** The number of scores behind the percentiles. */
  sample_size: number;
};

export type DistributionResult = {
  challenge_id: string;
  /** The bar that follows from the percentiles. */
  threshold: number;
  /** The share of attempts that should clear the bar. */
  target_pass_rate: number;
  /** As sent. */
  sample_size: number;
  calibration_source: 'partner_seeded';
  provisional: true;
  /** For people; its wording may change at any time. */
  note: string;
};

/** The board for a player who has entered the round. It has no member `locked`. */
export type FullLeaderboard = {
  round: Round;
  /** Distinct players who posted a score: the length of the full table. */
  scored_players: number;
  data: Array<LeaderboardRow>;
};

export type Integration = {
  id: string;
  transport: Transport | (string & {});
  status: IntegrationStatus | (string & {});
  /** The descriptor that was sent, without the secret values of `pull.auth`. */
  descriptor: Descriptor;
  /** Whether Laurel can verify a push. */
  has_signing_secret: boolean;
  /** Null unless the transport is `pull_poll`. */
  pull_interval_seconds: number | null;
  last_polled_at: string | null;
  next_poll_at: string | null;
  /** Failed polls since the last successful one. */
  consecutive_failures: number;
  /** The kind of the latest failure, such as `timeout`. */
  last_poll_error: string | null;
  created_at: string;
};

/** Members that are absent stay unchanged. */
export type IntegrationChange = {
  descriptor?: Descriptor | undefined;
  status?: IntegrationStatus | undefined;
  pull_interval_seconds?: number | undefined;
};

export type IntegrationList = {
  data: Array<Integration>;
};

export type IntegrationRequest = {
  transport: Transport;
  descriptor?: Descriptor | undefined;
  /** Only for `pull_poll`. */
  pull_interval_seconds?: number | undefined;
};

export type IntegrationStatus = 'draft' | 'active' | 'suspended';

/** Only the masked board has the member `locked`. */
export type Leaderboard = FullLeaderboard | MaskedLeaderboard;

export type LeaderboardRow = {
  /** The rank, final once the round is `settled`. */
  rank: number;
  player_ref: string;
  best_score: number;
  /** The tiebreak of the run with `best_score`. */
  best_tiebreak: number | null;
  best_score_at: string;
  paid_attempts: number;
  /** The final rank; null before settlement. */
  final_rank: number | null;
  /** Null: not yet decided. `0.00`: no payout. */
  payout_amount: Amount | null;
  payout_status: RankPayoutStatus | (string & {});
  /** Present only in the row of the account that `player_ref` names now. */
  is_player?: true | undefined;
};

/** The board for a player who has not entered, or without a `player_ref`. It has no member `data`. */
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
  purse_amount: Amount;
  purse_table: Array<PurseRow>;
  closes_at: string;
};

export type Outcome = {
  attempt_id: string;
  score: number;
  met_threshold: boolean;
  threshold_applied: number | null;
  recorded_at: string;
  receipt_id: string;
  /** Present only when the bar was cleared. */
  award: Award | null;
};

export type OutcomeRequest = {
  /** The score, in the units of the challenge's or tournament's metric. */
  score: number;
  /** Required if the tournament declares a tiebreak metric. Ignored for attempts against a challenge. */
  tiebreak?: number | undefined;
  /** At most 64 KiB, stored as sent. */
  evidence?: Record<string, unknown> | undefined;
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

/** `threshold`: one bar for every player. `top_n`: the bar is the n-th best score so far. */
export type PrizeStructure = 'threshold' | 'top_n';

export type PurseRow = {
  rank: number;
  amount: Amount;
};

/** An outcome has no member `results`. */
export type PushAnswer = Outcome | PushResults;

export type PushResult = {
  /** The place of the record in the body, from 0. */
  index: number;
  /** Null if no attempt was found. */
  attempt_id: string | null;
  status: RecordStatus | (string & {});
  /** Why the record was rejected. */
  code?: string | undefined;
};

export type PushResults = {
  results: Array<PushResult>;
};

/** One record, or an array of up to 100. */
export type PushedBody = PushedRecord | Array<PushedRecord>;

/** Under the descriptor `{}` a record is `{attempt_id, score, tiebreak?, evidence?}`. */
export type PushedRecord = Record<string, unknown>;

/** A challenge's go-live ramp, which caps its prize. */
export type Ramp = {
  active: true;
  /** The prize once the cap has lifted. */
  fullPrize: Amount;
  /** Settled paid attempts so far. */
  attemptsSeen: number;
  attemptsRequired: number;
};

export type RankPayoutStatus = 'none' | 'paid' | 'held' | 'refunded';

/**
 * `duplicate`: the same report settled the attempt before. `ignored`: the descriptor leaves the record out.
 * `listened`: the score has no attempt and is kept for the calibration of its challenge.
 */
export type RecordStatus = 'settled' | 'duplicate' | 'ignored' | 'rejected' | 'listened';

export type RefundReason = 'expired' | 'round_closed' | 'round_cancelled' | 'voided';

export type RotatedIntegration = {
  id: string;
  transport: Transport | (string & {});
  status: IntegrationStatus | (string & {});
  /** The descriptor that was sent, without the secret values of `pull.auth`. */
  descriptor: Descriptor;
  /** Whether Laurel can verify a push. */
  has_signing_secret: boolean;
  /** Null unless the transport is `pull_poll`. */
  pull_interval_seconds: number | null;
  last_polled_at: string | null;
  next_poll_at: string | null;
  /** Failed polls since the last successful one. */
  consecutive_failures: number;
  /** The kind of the latest failure, such as `timeout`. */
  last_poll_error: string | null;
  created_at: string;
  /** Only this response shows the secret. Its 64 characters are the key. */
  signing_secret: string;
  note: string;
};

export type Round = {
  /** The value to send as `tournament_round_id`. */
  id: string;
  tournament_id: string;
  tournament_name: string | null;
  status: RoundStatus | (string & {});
  opens_at: string;
  /** Scores are accepted before this instant. */
  closes_at: string;
  /** Entries and re-buys are accepted before this instant, ten minutes before `closes_at`. */
  entries_close_at: string;
  /** When the standings became final. */
  settled_at: string | null;
  entry_fee: Amount;
  funding: 'house';
  /** The sum of `purse_table`, frozen when the round opened. */
  purse_amount: Amount;
  purse_table: Array<PurseRow>;
  /** A legacy member: never compute prizes from it. */
  pool_amount: '0.00';
  /** A legacy member. */
  rollover_in: '0.00';
  /**
   * Distinct players with at least one attempt whose fee was not returned. Once the round is over: distinct players who
   * scored.
   */
  entrant_count: number;
  /** Paid attempts that one player may buy in this round. */
  attempt_cap: number;
  min_entrants: number;
  /** `0`: there is no minimum. */
  min_scored_attempts: number;
};

/** An attempt for a place in a round's rank table. */
export type RoundAttemptRequest = {
  /** The `id` of a round. */
  tournament_round_id: string;
  /** The partner's own identifier of a player. */
  player_ref: string;
  /** At most 16 KiB, stored as sent. */
  metadata?: Record<string, unknown> | undefined;
};

/** A round had too few entrants or scores, and every fee was returned. */
export type RoundCancelledEvent = {
  event: 'round.cancelled';
  /** When the event happened: the same at every attempt of the delivery. */
  timestamp: string;
  data: RoundCancelledEventData;
};

export type RoundCancelledEventData = {
  tournament_round_id: string;
  tournament_id: string;
  /** Present in the sandbox. */
  test?: true | undefined;
};

/** Standings are final, and every payout is decided. */
export type RoundSettledEvent = {
  event: 'round.settled';
  /** When the event happened: the same at every attempt of the delivery. */
  timestamp: string;
  data: RoundSettledEventData;
};

export type RoundSettledEventData = {
  tournament_round_id: string;
  tournament_id: string;
  /** Players with a final rank. */
  ranked_players: number;
  /** The sum of all payouts to ranks, paid or held: USD, a JSON number. */
  purse: number;
  /** Present in the sandbox. */
  test?: true | undefined;
};

export type RoundStatus = 'open' | 'settling' | 'settled' | 'cancelled';

export type SigningKey = {
  /** The thumbprint of the key (RFC 7638), in base64url. */
  key_id: string;
  algorithm: 'Ed25519';
  /** The public key: SPKI DER, in base64. */
  public_key: string;
  /** When the key was first used. */
  from: string;
  /** When the key was replaced; null while it is in use. It may be a minute in the future. */
  until: string | null;
};

export type SigningKeyList = {
  keys: Array<SigningKey>;
};

/** Which of two scores is the better one. */
export type ThresholdDirection = 'higher_is_better' | 'lower_is_better';

export type Tournament = {
  id: string;
  name: string;
  description: string | null;
  metric_name: string;
  metric_unit: string;
  threshold_direction: ThresholdDirection | (string & {});
  /** The fee of every attempt: an entry and a re-buy cost the same. */
  entry_fee: Amount;
  /** Paid attempts that one player may buy per round. */
  attempt_cap: number;
  status: TournamentStatus | (string & {});
  created_at: string;
  /** The open round, or else the most recent one; null only before the first round. */
  current_round: Round | null;
};

export type TournamentList = {
  data: Array<Tournament>;
};

export type TournamentStatus = 'active' | 'paused' | 'closed';

/**
 * `push_webhook`: the partner gets a signing secret and posts outcomes. `pull_poll`: Laurel polls a URL of the
 * partner. `sdk_direct`: the partner calls `/v1`, and nothing needs to be configured.
 */
export type Transport = 'push_webhook' | 'pull_poll' | 'sdk_direct';

/** An award in an event: its amount is a JSON number. */
export type WebhookAward = {
  id: string;
  /** USD, a JSON number with two decimals. */
  amount: number;
  payout_status: AwardPayoutStatus | (string & {});
};

/**
 * The body of any webhook; `event` says which event it is. More events may come: acknowledge those that you do not
 * know.
 */
export type WebhookEvent =
  | WebhookTestEvent
  | AttemptSettledEvent
  | AttemptRefundedEvent
  | ChallengeSuspendedEvent
  | RoundSettledEvent
  | RoundCancelledEvent
  | AwardReleasedEvent;

/** A developer sent a test event from the portal. */
export type WebhookTestEvent = {
  event: 'webhook.test';
  /** When the event happened: the same at every attempt of the delivery. */
  timestamp: string;
  data: WebhookTestEventData;
};

export type WebhookTestEventData = {
  message: string;
};

export type DeliveryReference = {
  delivery_id: string;
};

export type SandboxEvent = {
  /** The id of the event, not of a delivery. */
  id: string;
  event: WebhookEventType | (string & {});
  created_at: string;
  /** The body of a webhook with this event, as text: sign its UTF-8 bytes. */
  body: string;
  /** The `after` that continues with the next event. */
  cursor: string;
};

export type SandboxEventList = {
  data: Array<SandboxEvent>;
  /** The `after` of the next request; an empty page has one too. */
  next_cursor: string;
};

/** Members that are absent stay unchanged. A new player has no funds, and nothing prevents them from playing. */
export type SandboxPlayerRequest = {
  /** The partner's own identifier of a player. */
  player_ref: string;
  funds?: Amount | undefined;
  email?: string | undefined;
  /** Between 1900-01-01 and 9999-01-01 UTC. */
  date_of_birth?: string | undefined;
  jurisdiction?: string | undefined;
  verification_level?: number | undefined;
  /** Null ends a self-exclusion. */
  self_excluded_until?: string | null | undefined;
  enforcement_flag?: boolean | undefined;
  under_investigation?: boolean | undefined;
};

export type WebhookEventType =
  | 'webhook.test'
  | 'attempt.settled'
  | 'attempt.refunded'
  | 'challenge.suspended'
  | 'round.settled'
  | 'round.cancelled'
  | 'award.released';
