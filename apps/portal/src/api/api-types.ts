// Derived from docs/openapi/portal-api.yaml by `npm run sdk-types`. Do not edit.

/** Branch on this, never on the message. */
export type ErrorCode =
  | 'invalid_request'
  | 'unauthorized'
  | 'insufficient_funds'
  | 'blocked'
  | 'insider_entry'
  | 'forbidden'
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
  | 'conflict'
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
  status: AttemptStatus;
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

/** Exactly one parent: a challenge, or a round. */
export type AttemptRequest =
  | (ChallengeAttemptRequest & { tournament_round_id?: never })
  | (RoundAttemptRequest & { challenge_id?: never });

export type AttemptStatus = 'open' | 'settled' | 'expired' | 'voided';

export type Award = {
  id: string;
  amount: Amount;
  /** Null while the award is held. */
  paid_at: string | null;
  payout_status: AwardPayoutStatus;
};

/**
 * `held`: the award is withheld for review, and no money has moved. Reconcile paid winnings on `paid`, never on the
 * presence of an award.
 */
export type AwardPayoutStatus = 'paid' | 'held';

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
  status: ChallengeStatus;
  prize_structure: PrizeStructure;
  /** The bar; null while calibrating. */
  threshold: number | null;
  min_calibration_n: number;
  calibration_source: CalibrationSource;
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

export type ChallengeStatus = 'calibrating' | 'live' | 'suspended' | 'closed';

/** The last three members are present only for `push_webhook`. */
export type CreatedIntegration = {
  id: string;
  transport: Transport;
  status: IntegrationStatus;
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

export type Integration = {
  id: string;
  transport: Transport;
  status: IntegrationStatus;
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

export type IntegrationList = {
  data: Array<Integration>;
};

export type IntegrationStatus = 'draft' | 'active' | 'suspended';

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
  payout_status: RankPayoutStatus;
  /** Present only in the row of the account that `player_ref` names now. */
  is_player?: true | undefined;
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

/** `threshold`: one bar for every player. `top_n`: the bar is the n-th best score so far. */
export type PrizeStructure = 'threshold' | 'top_n';

export type PurseRow = {
  rank: number;
  amount: Amount;
};

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

export type RotatedIntegration = {
  id: string;
  transport: Transport;
  status: IntegrationStatus;
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
  status: RoundStatus;
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

export type RoundStatus = 'open' | 'settling' | 'settled' | 'cancelled';

/** Which of two scores is the better one. */
export type ThresholdDirection = 'higher_is_better' | 'lower_is_better';

export type Tournament = {
  id: string;
  name: string;
  description: string | null;
  metric_name: string;
  metric_unit: string;
  threshold_direction: ThresholdDirection;
  /** The fee of every attempt: an entry and a re-buy cost the same. */
  entry_fee: Amount;
  /** Paid attempts that one player may buy per round. */
  attempt_cap: number;
  status: TournamentStatus;
  created_at: string;
  /** The open round, or else the most recent one; null only before the first round. */
  current_round: Round | null;
};

export type TournamentStatus = 'active' | 'paused' | 'closed';

/**
 * `push_webhook`: the partner gets a signing secret and posts outcomes. `pull_poll`: Laurel polls a URL of the
 * partner. `sdk_direct`: the partner calls `/v1`, and nothing needs to be configured.
 */
export type Transport = 'push_webhook' | 'pull_poll' | 'sdk_direct';

export type Account = {
  id: string;
  email: string;
  date_of_birth: string;
  jurisdiction: string;
  verification_level: number;
  self_excluded_until: string | null;
  enforcement_flag: boolean;
  under_investigation: boolean;
  blocked: boolean;
  /** The limit of what one program may charge the account in 24 hours. Null: the limit of the program applies. */
  fee_limit: Amount | null;
  sandbox_only: boolean;
  /** The program of a sandbox account; null for the account of a person. */
  program_id: string | null;
  created_at: string | null;
};

/** Members that are absent stay unchanged. At least one member is required. */
export type AccountChange = {
  /** Null ends a self-exclusion. */
  self_excluded_until?: string | null | undefined;
  enforcement_flag?: boolean | undefined;
  under_investigation?: boolean | undefined;
  blocked?: boolean | undefined;
  /** The limit of what one program may charge the account in 24 hours. Null: the limit of the program applies. */
  fee_limit?: string | null | undefined;
  jurisdiction?: string | undefined;
  verification_level?: number | undefined;
};

export type AccountLink = {
  program_id: string;
  environment: Environment;
  player_ref: string;
  created_at: string;
};

export type AccountLinks = {
  data: Array<AccountLink>;
  /** The programs that may not link the account. */
  severed: Array<Severance>;
};

export type AccountList = {
  data: Array<Account>;
  /** The `cursor` of the next page; null on the last one. */
  next_cursor: string | null;
};

export type AccountPayouts = {
  count: number;
  amount: Amount;
  /** An award beyond this number is held. */
  count_limit: number;
  /** An award that takes `amount` over this is held. */
  amount_limit: Amount;
};

export type AccountRequest = {
  email: string;
  /** Between 1900-01-01 and 9999-01-01 UTC. */
  date_of_birth: string;
  jurisdiction: string;
  verification_level: number;
  /** If present, the account is a sandbox account, which only this program can link, and only in test. */
  program_id?: string | undefined;
};

export type AccountWithCharges = Account & {
  /** Fees of the last 24 hours that were not refunded, by program, the most first. */
  charges: Array<ProgramCharges>;
};

export type ActionOutcome = 'done' | 'refused' | 'unknown';

export type ApprovedProgram = OperatorProgram & {
  live_key: string;
};

export type AttemptDelivery = WebhookDelivery & {
  endpoint_id: string;
};

export type AttemptLine = {
  id: string;
  /** Null for an attempt in a round. */
  challenge_id: string | null;
  /** Null for an attempt against a challenge. */
  tournament_round_id: string | null;
  player_ref: string;
  status: AttemptStatus;
  fee: Amount;
  created_at: string;
  /** Null without an outcome, as `met_threshold`. */
  score: number | null;
  met_threshold: boolean | null;
  award: ListedAward | null;
};

export type AttemptList = {
  data: Array<AttemptLine>;
  /** The `cursor` of the next page; null on the last one. */
  next_cursor: string | null;
  /** The `after` that continues with newer attempts; null on a page with `cursor`. */
  head_cursor: string | null;
};

export type AttemptTimelineEntry = {
  /** Null for `expired` and `voided`, whose time is not stored. */
  at: string | null;
  kind: AttemptTimelineKind;
  amount?: Amount | undefined;
  reason?: string | undefined;
  score?: number | undefined;
  met_threshold?: boolean | undefined;
  threshold_applied?: number | null | undefined;
  delivery_id?: string | undefined;
  endpoint_id?: string | undefined;
  number?: number | undefined;
  http_status?: number | null | undefined;
  error_kind?: string | null | undefined;
  /** The reference of a deposit that makes the attempt good, which only operators are shown. */
  reference?: string | undefined;
};

export type AttemptTimelineKind =
  | 'created'
  | 'fee_charged'
  | 'settled'
  | 'award_paid'
  | 'award_held'
  | 'award_released'
  | 'award_denied'
  | 'expired'
  | 'voided'
  | 'fee_refunded'
  | 'webhook_sent'
  | 'goodwill_deposited';

export type AuditCheck = {
  id: string;
  description: string;
  /** Rows of either environment that break the rule. */
  violations: number;
  /** The violations of real money and of play money. Only those of real money raise a critical alert. */
  violations_by_environment: {
    live: number;
    test: number;
  };
  /** Ids of rows that break the rule, those of live first. */
  examples?: Array<string> | undefined;
};

export type AuditReport = {
  /** No check has a violation. */
  ok: boolean;
  /** No check has a violation of real money. */
  live_ok: boolean;
  checks: Array<AuditCheck>;
};

export type CalibrationGate = {
  samples: number;
  players: number;
};

export type CalibrationReport = {
  challenge_id: string;
  /** Number of scores that count. */
  samples: number;
  /** Number of players with these scores. */
  players: number;
  /** The number of one player's scores that count. */
  fair_share: number;
  required: CalibrationGate;
  /** For each share of the samples, the score that they do not exceed; ascending. */
  quantiles: Array<Quantile>;
  /** Bins of equal width, at most 50. Each bin excludes `to`, except the last. */
  histogram: Array<HistogramBin>;
  /** The bar; while the challenge is calibrating, the bar that its samples give so far. */
  bar: number | null;
  /** The 99 % confidence interval of the bar; null if the bar does not come from samples. */
  bar_interval: ScoreInterval | null;
  /** The partner's percentiles, if the bar comes from them. */
  seeded: SeededDistribution | null;
};

export type CalibrationState = {
  collected: number;
  required: number;
  players_collected: number;
  players_required: number;
  /** The bar that the scores shown would give; null without scores, and for `top_n`. */
  bar_so_far: number | null;
};

export type CancelRoundRequest = {
  reason: string;
};

export type ChallengeChange = {
  status: 'live' | 'suspended' | 'closed';
  /** Required to reinstate a challenge that the drift monitor suspended. */
  note?: string | undefined;
};

export type ChallengeRequest = {
  environment: Environment;
  name: string;
  description?: string | null | undefined;
  /** USD, two places, above 0.00. */
  fee: Amount;
  /** The prize may exceed the ceiling of its tier: attempts are then refused with `challenge_not_available`. */
  prize: Amount;
  prize_structure?: PrizeStructure | undefined;
  top_n?: number | null | undefined;
  metric_name: string;
  metric_unit: string;
  threshold_direction: ThresholdDirection;
  score_min?: number | null | undefined;
  score_max?: number | null | undefined;
  target_pass_rate: number;
  integrity_tier: number;
  /** By default 200, or 40 / `target_pass_rate` if that is more. */
  min_calibration_n?: number | null | undefined;
  min_calibration_players?: number | undefined;
  daily_attempt_cap?: number | undefined;
  required_verification_level?: number | undefined;
  jurisdictions?: Array<string> | undefined;
  parent_challenge_id?: string | undefined;
  status?: 'calibrating' | 'live' | undefined;
  /** Required for a `live` challenge that is not a rung. A rung without a threshold gets its bar from its parent. */
  threshold?: number | null | undefined;
};

export type ChallengeStatistics = {
  scores: ScoreHistogram;
  pass_rate: PassRateStatistics;
  /** Null unless the challenge is calibrating. */
  calibration: CalibrationState | null;
  /** Null if no ramp limits the prize, or ever has. */
  ramp: RampState | null;
  /** Null for a challenge without a drift monitor. */
  drift: DriftState | null;
  /** Changes of the status, and the completion of the ramp, oldest first. */
  status_changes: Array<ChallengeStatusStep>;
};

export type ChallengeStatusChange = {
  changed_at: string;
  from: ChallengeStatus;
  to: ChallengeStatus;
  cause: StatusChangeCause;
  note: string | null;
  /** The monitor's evidence at the time of the change. */
  evidence: DriftEvidence | null;
};

export type ChallengeStatusStep = {
  at: string;
  from: ChallengeStatus;
  to: ChallengeStatus;
  cause: StatusChangeCause;
  note: string | null;
};

/** The challenge as partners see it, and everything that the operator set. */
export type ChallengeWithStatusChange = OperatorChallenge & {
  /** The change that gave the challenge its status; null if none is recorded. */
  status_change: ChallengeStatusStep | null;
};

export type CreatedProgram = OperatorProgram & {
  test_key: string;
};

export type Credentials = {
  email: string;
  password: string;
};

export type DeliveryReference = {
  delivery_id: string;
};

export type DeliveryStatus = 'pending' | 'delivered' | 'failed';

export type DepositRequest = {
  environment: Environment;
  /** USD, two places, above 0.00. */
  amount: Amount;
  reference: string;
  /** The attempt that the deposit compensates for: one of the account, in this environment. */
  attempt_id?: string | undefined;
};

export type DepositResult = {
  balance: Amount;
  /** An earlier call made this deposit, and this one changed nothing. */
  posted_before: boolean;
};

export type DescribedAttempt = AttemptLine & {
  metadata: Record<string, unknown>;
  outcome: AttemptOutcome | null;
  /** What is stored, oldest first. */
  timeline: Array<AttemptTimelineEntry>;
  /** The first delivery of each event of the attempt to each endpoint. */
  deliveries: Array<AttemptDelivery>;
};

export type DescribedPayout = Payout & {
  /** The account as it is now. */
  account: PayoutAccount;
  /**
   * What was paid in the last 24 hours in the environment of the payout: to the account, by every program; and by the
   * program, to every account.
   */
  paid_24h: {
    account: AccountPayouts;
    program: ProgramPayouts;
  };
};

export type Developer = {
  id: string;
  email: string;
};

export type DeveloperList = {
  data: Array<ListedDeveloper>;
  /** The `cursor` of the next page; null on the last one. */
  next_cursor: string | null;
};

export type DeveloperRequest = {
  email: string;
  password: string;
};

export type DriftEvidence = {
  /** Settled paid attempts since the monitor started. */
  attempts: number;
  /** Attempts that cleared the bar. */
  passes: number;
  /** Null if there are no attempts. */
  pass_rate: number | null;
  /** The likelihood ratio for a pass rate above the claim, as a natural logarithm. */
  log_ratio_above: number;
  /** The likelihood ratio for a pass rate below the claim, as a natural logarithm. */
  log_ratio_below: number;
};

export type DriftReading = {
  /** Settled paid attempts since the monitor started. */
  attempts: number;
  /** Attempts that cleared the bar. */
  passes: number;
  /** Null if there are no attempts. */
  pass_rate: number | null;
  /** The likelihood ratio for a pass rate above the claim, as a natural logarithm. */
  log_ratio_above: number;
  /** The likelihood ratio for a pass rate below the claim, as a natural logarithm. */
  log_ratio_below: number;
  read_at: string;
};

export type DriftReport = {
  challenge_id: string;
  status: ChallengeStatus;
  /** When the monitor started; null if the challenge has no monitor. */
  started_at: string | null;
  /** Settled paid attempts since the monitor started. */
  attempts: number;
  /** Attempts that cleared the bar. */
  passes: number;
  /** Null if there are no attempts. */
  pass_rate: number | null;
  /** The likelihood ratio for a pass rate above the claim, as a natural logarithm. */
  log_ratio_above: number;
  /** The likelihood ratio for a pass rate below the claim, as a natural logarithm. */
  log_ratio_below: number;
  /** The claim holds for pass rates in this band. */
  claimed: PassRateBand;
  /** If either ratio exceeds this, the challenge is suspended. */
  log_limit: number;
  /** The monitor does not judge before it has this many attempts. */
  attempts_before_judging: number;
  /** Readings since the monitor started, oldest first. */
  readings: Array<DriftReading>;
  /** Changes of the status, and the completion of the ramp, oldest first. */
  changes: Array<ChallengeStatusChange>;
};

export type DriftState = {
  started_at: string;
  attempts: number;
  passes: number;
  /** The likelihood ratio for a pass rate above the claim, as a natural logarithm. */
  evidence_above: number;
  /** The likelihood ratio for a pass rate below the claim, as a natural logarithm. */
  evidence_below: number;
  /** If either ratio exceeds this, the challenge is suspended. */
  limit: number;
  /** Readings since the monitor started, oldest first. */
  readings: Array<DriftStateReading>;
};

export type DriftStateReading = {
  at: string;
  attempts: number;
  passes: number;
  /** The likelihood ratio for a pass rate above the claim, as a natural logarithm. */
  evidence_above: number;
  /** The likelihood ratio for a pass rate below the claim, as a natural logarithm. */
  evidence_below: number;
};

export type DryRun = {
  records: Array<DryRunRecord>;
  /** Why no records could be read. */
  records_failure: PointerFailure | null;
  /** For `pull_poll`: how the next page would be requested. */
  next_page: Record<string, unknown> | null;
};

export type DryRunRecord = {
  index: number;
  status: 'read' | 'ignored' | 'failed';
  /** What would be reported: attempt, score, tiebreak, evidence, dedupe. */
  read: Record<string, unknown> | null;
  failure: PointerFailure | null;
};

export type DryRunRequest = {
  transport: Transport;
  descriptor: Descriptor;
  /**
   * A body as the partner would send it, or a page as it would be fetched; at most 239 KiB, since the body has the
   * descriptor too.
   */
  sample: unknown;
};

export type Environment = 'test' | 'live';

export type FoundItem = {
  kind: FoundKind;
  /** A uuid; the `player_ref` of that kind. */
  id: string;
  program_id: string | null;
  environment: Environment | null;
  /** The attempt that it is, or belongs to. */
  attempt_id: string | null;
  /** The account that it is, or belongs to. */
  account_id: string | null;
  summary: string;
};

export type FoundKind =
  | 'attempt'
  | 'receipt'
  | 'challenge'
  | 'tournament'
  | 'round'
  | 'account'
  | 'award'
  | 'delivery'
  | 'event'
  | 'program'
  | 'developer'
  | 'request'
  | 'player_ref';

export type HistogramBin = {
  from: number;
  to: number;
  samples: number;
};

export type Insider = {
  program_id: string;
  account_id: string;
};

export type InsiderList = {
  data: Array<ListedInsider>;
  /** The `cursor` of the next page; null on the last one. */
  next_cursor: string | null;
};

export type InsiderRequest = {
  account_id: string;
};

export type IntegrationLog = {
  data: Array<IntegrationLogEntry>;
  /** The `cursor` of the next page; null on the last one. */
  next_cursor: string | null;
};

export type IntegrationLogEntry = {
  id: string;
  kind: 'push' | 'poll';
  at: string;
  /** The first 1,000 characters. */
  body_excerpt: string;
  /** Why the whole failed. */
  error: string | null;
  records: Array<IntegrationLogRecord>;
};

export type IntegrationLogRecord = {
  index: number;
  attempt_id: string | null;
  status: RecordStatus;
  code: string | null;
  message: string | null;
};

export type LinkToken = {
  token: string;
};

/** An award as a developer reads it. */
export type ListedAward = {
  id: string;
  amount: Amount;
  payout_status: ListedAwardStatus;
};

export type ListedAwardStatus = 'paid' | 'held' | 'denied';

export type ListedDeveloper = {
  id: string;
  email: string;
  created_at: string;
  /** How many programs the developer has, in any status. */
  programs: number;
};

export type ListedInsider = {
  account_id: string;
  email: string;
  created_at: string;
};

export type LiveKey = {
  live_key: string;
};

export type Money = {
  /**
   * What happened later is not in the sums yet. A day is closed 15 minutes after its end, and is final then. Null before
   * the first count.
   */
  counted_at: string | null;
  environments: Array<MoneyOfEnvironment>;
  /** Days with money, oldest first. */
  days: Array<MoneyOfDay>;
  data: Array<MoneyOfProgram>;
  /** The `cursor` of the next page; null on the last one. */
  next_cursor: string | null;
};

export type MoneyOfDay = {
  day: string;
  environment: Environment;
  /** Fees that were charged, refunded ones included. */
  fees: Amount;
  /** Fees that were returned, whenever they were charged. */
  refunds: Amount;
  /** Payouts that were paid, whenever they were won. */
  paid: Amount;
  /** Payouts that were put on hold, whatever was decided since. */
  held: Amount;
  /** Payouts that were denied, whenever they were put on hold. */
  denied: Amount;
  /** `fees` less `refunds` and `paid`: what the house keeps; may be negative. */
  kept: string;
};

export type MoneyOfEnvironment = {
  environment: Environment;
  /** Fees that were charged, refunded ones included. */
  fees: Amount;
  /** Fees that were returned, whenever they were charged. */
  refunds: Amount;
  /** Payouts that were paid, whenever they were won. */
  paid: Amount;
  /** Payouts that were put on hold, whatever was decided since. */
  held: Amount;
  /** Payouts that were denied, whenever they were put on hold. */
  denied: Amount;
  /** `fees` less `refunds` and `paid`: what the house keeps; may be negative. */
  kept: string;
  /** What the house keeps since the beginning, deposits apart; may be negative. */
  house: string;
  /** Payouts that are held now, among the newest 10,000 held ones of all programs. */
  held_now: Amount;
};

export type MoneyOfProgram = {
  /** Null: fees from before the ledger named their program. */
  program_id: string | null;
  /** Null where the program is not known. */
  name: string | null;
  environment: Environment;
  /** Fees that were charged, refunded ones included. */
  fees: Amount;
  /** Fees that were returned, whenever they were charged. */
  refunds: Amount;
  /** Payouts that were paid, whenever they were won. */
  paid: Amount;
  /** Payouts that were put on hold, whatever was decided since. */
  held: Amount;
  /** Payouts that were denied, whenever they were put on hold. */
  denied: Amount;
  /** `fees` less `refunds` and `paid`: what the house keeps; may be negative. */
  kept: string;
};

export type OneTimeLink = {
  token: string;
  expires_at: string;
};

export type OperatorAction = {
  id: string;
  at: string;
  actor: string;
  action: string;
  subject: string | null;
  request?: unknown | undefined;
  /** The subject before the action; null if it did not exist. */
  before?: unknown | undefined;
  /** The subject after the action. */
  after?: unknown | undefined;
  outcome: ActionOutcome;
  status: number | null;
  request_id: string;
};

export type OperatorActionList = {
  data: Array<OperatorAction>;
  /** The `cursor` of the next page; null on the last one. */
  next_cursor: string | null;
};

export type OperatorAttempt = DescribedAttempt & {
  program_id: string;
  environment: Environment;
  /** The account that pays; null for a free attempt of a player who was not linked. */
  account_id: string | null;
  /** As the partner reported it; null without an outcome, if none was sent, or if the attempt is archived. */
  evidence: Record<string, unknown> | null;
  /** The payout of the attempt's award, or of the player's rank in the round. */
  payout: Payout | null;
};

export type OperatorAttemptLine = AttemptLine & {
  program_id: string;
  environment: Environment;
  /** The account that pays; null for a free attempt of a player who was not linked. */
  account_id: string | null;
};

export type OperatorAttemptList = {
  data: Array<OperatorAttemptLine>;
  /** The `cursor` of the next page; null on the last one. */
  next_cursor: string | null;
};

/** The challenge as partners see it, and everything that the operator set. */
export type OperatorChallenge = Challenge & {
  program_id: string;
  environment: Environment;
  configured_fee: Amount;
  configured_prize: Amount;
  threshold_direction: ThresholdDirection;
  target_pass_rate: number;
  integrity_tier: number;
  top_n: number | null;
  score_min: number | null;
  score_max: number | null;
  min_calibration_players: number;
  daily_attempt_cap: number;
  required_verification_level: number;
  jurisdictions: Array<string>;
  created_at: string;
};

export type OperatorCredentials = {
  token: string;
};

export type OperatorProgram = Program & {
  /** Null: no developer sees the program. */
  developer_id: string | null;
};

export type OperatorProgramList = {
  data: Array<OperatorProgram>;
  /** The `cursor` of the next page; null on the last one. */
  next_cursor: string | null;
};

export type OperatorRankPayoutStatus = 'none' | 'paid' | 'held' | 'denied' | 'refunded';

export type OperatorRound = Round & {
  program_id: string;
  environment: Environment;
  /** Null unless an operator cancelled the round. */
  cancellation: RoundCancellation | null;
};

export type OperatorRoundStandings = {
  round: OperatorRound;
  /** Distinct players who posted a score: the length of the full table. */
  scored_players: number;
  data: Array<OperatorStanding>;
  /** The `cursor` of the next page; null on the last one. */
  next_cursor: string | null;
};

export type OperatorSession = {
  /** The name of the token's holder, which the log of actions has. */
  name: string;
  session_expires_at: string;
};

export type OperatorStanding = {
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
  /** The contract has no `denied`: everyone else reads `held`. */
  payout_status: OperatorRankPayoutStatus;
  account_id: string;
  /** The payout of the row; null if nothing is won, and until the round is `settled`. */
  award_id: string | null;
  /** The attempt that scored `best_score`. */
  best_attempt_id: string;
};

/** The tournament as partners see it, and everything that the operator set. */
export type OperatorTournament = Tournament & {
  program_id: string;
  environment: Environment;
  tiebreak_metric_name: string | null;
  tiebreak_direction: ThresholdDirection | null;
  /** The sum of `purse_table`, frozen when the round opened. */
  purse_amount: Amount;
  purse_table: Array<PurseRow>;
  min_entrants: number;
  min_scored_attempts: number;
  round_length_seconds: number | null;
};

/** Deliveries of the program's events that were created in the period, by their status now. */
export type OverviewDeliveries = {
  delivered: number;
  failed: number;
  pending: number;
  /**
   * Set if an endpoint has 10,000 deliveries or more in the period: of that endpoint only those from then on are
   * counted.
   */
  counted_from: string | null;
};

export type OverviewError = {
  code: string;
  count: number;
};

/** When each step was first done; null if it is not known to be. */
export type OverviewFirstSteps = {
  /** The first request with a key, as far as requests are logged. */
  key_used_at: string | null;
  player_linked_at: string | null;
  attempt_created_at: string | null;
  outcome_reported_at: string | null;
  /** When the oldest endpoint was registered that gets events of the program. */
  endpoint_created_at: string | null;
  /** When the first delivery was created that was delivered, as far as the delivery log goes. */
  webhook_delivered_at: string | null;
};

export type OverviewMoney = {
  /**
   * Fees charged, refunded ones included. Null if the program has more than 2,000 accounts, or 10,000 fees in the
   * period.
   */
  fees: Amount | null;
  /** What of these fees was returned. Null where `fees` is. */
  refunds: Amount | null;
  /** Payouts that were paid in the period. */
  paid: Amount;
  /** Payouts of the period that are held, among the newest 10,000 held ones of all programs. */
  held: Amount;
};

export type OverviewRequestBucket = {
  from: string;
  ok: number;
  errors_4xx: number;
  errors_5xx: number;
};

/** The requests to `/v1` with a key of the program, as far as they are logged. */
export type OverviewRequests = {
  total: number;
  errors_4xx: number;
  errors_5xx: number;
  /** The five most frequent codes. */
  top_errors: Array<OverviewError>;
  /** The period in equal parts, oldest first. */
  buckets: Array<OverviewRequestBucket>;
};

export type PaidRank = {
  rank: number;
  /** USD, two places, above 0.00. */
  amount: Amount;
};

export type PassRateBand = {
  low: number;
  high: number;
};

export type PassRateReading = {
  at: string;
  /** Settled paid attempts since the drift monitor started. */
  attempts: number;
  /** Attempts that cleared the bar. */
  passes: number;
  /** Null without attempts. */
  observed: number | null;
  /** The lower end of the 95 % Wilson interval; null without attempts. */
  low: number | null;
  /** The upper end; null without attempts. */
  high: number | null;
};

export type PassRateStatistics = {
  target: number;
  /** Settled paid attempts since the drift monitor started. */
  attempts: number;
  /** Attempts that cleared the bar. */
  passes: number;
  /** Null without attempts. */
  observed: number | null;
  /** The lower end of the 95 % Wilson interval; null without attempts. */
  low: number | null;
  /** The upper end; null without attempts. */
  high: number | null;
  /** The rate up to each reading of the drift monitor, oldest first. */
  over_time: Array<PassRateReading>;
};

export type Payout = {
  award_id: string;
  /** The attempt, if the payout is an award. Exactly one of this and `round_id` is set. */
  attempt_id: string | null;
  /** The round, if the payout is for a rank in its purse. */
  round_id: string | null;
  program_id: string;
  environment: Environment;
  account_id: string;
  amount: Amount;
  status: PayoutStatus;
  /** Why the payout was held. It stays after a decision. */
  reason: string | null;
  created_at: string;
  paid_at: string | null;
  /**
   * Null while the payout is held, if it never was, and if an operator decided it under software version 0.2.0 or older.
   */
  decision: PayoutDecision | null;
};

export type PayoutAccount = {
  id: string;
  email: string;
  enforcement_flag: boolean;
  under_investigation: boolean;
  blocked: boolean;
  verification_level: number;
  self_excluded_until: string | null;
  sandbox_only: boolean;
};

export type PayoutDecision = {
  decision: 'released' | 'denied';
  at: string;
  /** The name of the operator who decided. */
  operator: string;
  reason: string | null;
};

export type PayoutDecisionReason = {
  reason?: string | undefined;
};

export type PayoutList = {
  data: Array<Payout>;
  /** The `cursor` of the next page; null on the last one. */
  next_cursor: string | null;
};

export type PayoutStatus = 'paid' | 'held' | 'denied';

export type PointerFailure = {
  /** The JSON Pointer, for example `/run/points`. */
  pointer: string;
  /** Where it stands in the descriptor, for example `map.score`. */
  field: string;
  message: string;
};

export type Program = {
  id: string;
  name: string;
  status: ProgramStatus;
  deletion_scheduled: boolean;
  created_at: string;
  keys: Array<ProgramKey>;
};

export type ProgramChallengeList = {
  data: Array<OperatorChallenge>;
  /** The `cursor` of the next page; null on the last one. */
  next_cursor: string | null;
};

/** Members that are absent stay unchanged. At least one member is required. */
export type ProgramChange = {
  status?: 'approved' | 'suspended' | 'closed' | undefined;
  deletion_scheduled?: boolean | undefined;
  /** Sent alone. Null: no developer. */
  developer_id?: string | null | undefined;
};

export type ProgramCharges = {
  program_id: string;
  environment: Environment;
  amount: Amount;
};

/** Members that are absent stay unchanged. At least one member is required. */
export type ProgramIntegrationChange = {
  descriptor?: Descriptor | undefined;
  status?: IntegrationStatus | undefined;
  pull_interval_seconds?: number | undefined;
};

export type ProgramIntegrationRequest = {
  environment: Environment;
  transport: Transport;
  descriptor?: Descriptor | undefined;
  /** Only for `pull_poll`. */
  pull_interval_seconds?: number | undefined;
};

export type ProgramKey = {
  environment: Environment;
  prefix: string;
  last4: string;
  created_at: string;
  last_used_at: string | null;
};

export type ProgramLimits = {
  program_id: string;
  environment: Environment;
  /** The limit of all payouts in 24 hours. An award that would exceed it is held. Null: no limit. */
  payout_limit: Amount | null;
  /** The limit of the fees of one account in 24 hours. A fee that would exceed it is `blocked`. Null: no limit. */
  fee_limit: Amount | null;
  /** Payouts of the program to all accounts in the last 24 hours. */
  paid: Amount;
};

/** Members that are absent stay unchanged. At least one member is required. */
export type ProgramLimitsChange = {
  environment: Environment;
  /** Null returns to the default. */
  payout_limit?: string | null | undefined;
  /** Null returns to the default. */
  fee_limit?: string | null | undefined;
};

export type ProgramLimitsList = {
  data: Array<ProgramLimits>;
};

export type ProgramList = {
  data: Array<Program>;
  /** The `cursor` of the next page; null on the last one. */
  next_cursor: string | null;
};

export type ProgramOverview = {
  environment: Environment;
  hours: number;
  from: string;
  to: string;
  quick_start: OverviewFirstSteps;
  requests: OverviewRequests;
  money: OverviewMoney;
  deliveries: OverviewDeliveries;
};

export type ProgramPayouts = {
  amount: Amount;
  /** Null: the program has no limit there. */
  amount_limit: Amount | null;
};

export type ProgramRequest = {
  name: string;
  developer_id?: string | undefined;
};

export type ProgramStatus = 'draft' | 'approved' | 'suspended' | 'closed';

export type ProgramTournamentList = {
  data: Array<OperatorTournament>;
  /** The `cursor` of the next page; null on the last one. */
  next_cursor: string | null;
};

export type Quantile = {
  share: number;
  score: number;
};

export type RampState = {
  full_prize: Amount;
  offered_prize: Amount;
  attempts_seen: number;
  attempts_required: number;
  completed_at: string | null;
};

export type Receipt = {
  receipt: Record<string, unknown>;
  /** The Ed25519 signature, in base64. */
  signature: string;
  /** The key that verifies the signature: SPKI DER, in base64. */
  public_key: string;
  /** Present for an outcome in a round, once the round is settled. */
  seal?: Seal | undefined;
};

export type RequestDetails = {
  request_id: string;
  at: string;
  environment: Environment;
  method: string;
  /** With its query. */
  path: string;
  /** `unknown` if the path and the method have no route. */
  route: string;
  /** 499 if the caller disconnected before the response. */
  status: number;
  error_code: string | null;
  duration_ms: number;
  idempotency_key: string | null;
  /**
   * The attempt that the path names, or that the request created. Null if there is none, or if the log has no body of
   * the response.
   */
  attempt_id: string | null;
  /** Whether the response is that of an earlier request. */
  replayed: boolean;
  user_agent: string | null;
  /** The first 16 KiB, with "[redacted]" in the place of secrets and e-mails. */
  request_body: string | null;
  request_body_truncated: boolean;
  /** The first 16 KiB, with "[redacted]" in the place of secrets and e-mails. */
  response_body: string | null;
  response_body_truncated: boolean;
};

export type RequestLine = {
  request_id: string;
  at: string;
  environment: Environment;
  method: string;
  /** With its query. */
  path: string;
  /** `unknown` if the path and the method have no route. */
  route: string;
  /** 499 if the caller disconnected before the response. */
  status: number;
  error_code: string | null;
  duration_ms: number;
  idempotency_key: string | null;
  /**
   * The attempt that the path names, or that the request created. Null if there is none, or if the log has no body of
   * the response.
   */
  attempt_id: string | null;
  /** Whether the response is that of an earlier request. */
  replayed: boolean;
};

export type RequestList = {
  data: Array<RequestLine>;
  /** The `cursor` of the next page; null on the last one. */
  next_cursor: string | null;
  /** Send it as `after` for what is newer than this page. Null on a page that was read with `cursor`. */
  head_cursor: string | null;
};

export type ResendPeriod = {
  /** Deliveries created from then on */
  from: string;
  /** and before then. */
  to: string;
};

export type ResentDeliveries = {
  /** The number of new deliveries. */
  resent: number;
  /** Failed deliveries of the period may be left. */
  more: boolean;
  /** The `from` that continues; null if `more` is false. */
  resume_from: string | null;
};

export type RoundCancellation = {
  /** No entry and no score has been accepted since then. */
  cancelled_at: string;
  operator: string;
  reason: string;
};

export type RoundList = {
  data: Array<Round>;
  /** The `cursor` of the next page; null on the last one. */
  next_cursor: string | null;
};

export type RoundRequest = {
  /** Between 1900-01-01 and 9999-01-01 UTC. */
  opens_at?: string | null | undefined;
  /** Between 1900-01-01 and 9999-01-01 UTC. */
  closes_at: string;
};

export type RoundStandings = {
  round: Round;
  /** Distinct players who posted a score: the length of the full table. */
  scored_players: number;
  /** Whether the rows are withheld: the round is not over. */
  withheld: boolean;
  data: Array<LeaderboardRow>;
  /** The `cursor` of the next page; null on the last one. */
  next_cursor: string | null;
};

export type SandboxEvent = {
  /** The id of the event, not of a delivery. */
  id: string;
  event: WebhookEventType;
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

export type ScoreBin = {
  from: number;
  to: number;
  count: number;
};

export type ScoreHistogram = {
  /** The scores in all bins. */
  count: number;
  /** The lowest score; null without scores. */
  from: number | null;
  /** The highest score; null without scores. */
  to: number | null;
  /** Bins of equal width, ascending. Each bin excludes `to`, except the last. */
  bins: Array<ScoreBin>;
  /** The bar; null while calibrating. */
  threshold: number | null;
  /**
   * `bar_samples`: the scores that place the bar. `paid_attempts`: the scores of settled paid attempts, once there is
   * one; never of a `top_n` challenge, whose scores all place the bar.
   */
  source: ScoreSource;
  /**
   * Whether these are all scores of the source. If not, they are the latest 10,000 samples, or those of 500 attempts of
   * the players with the newest accounts.
   */
  complete: boolean;
};

export type ScoreInterval = {
  low: number;
  high: number;
};

export type ScoreSource = 'bar_samples' | 'paid_attempts';

export type Seal = {
  statement: Record<string, unknown>;
  /** The Ed25519 signature, in base64. */
  signature: string;
  /** The key that verifies the signature: SPKI DER, in base64. */
  public_key: string;
  leaf: Record<string, unknown>;
  leaf_index: number;
  /** The sibling hashes on the path from the leaf to the root. */
  proof: Array<string>;
};

export type SearchResult = {
  data: Array<FoundItem>;
  /** Kinds that could not be searched now. */
  missing: Array<FoundKind>;
};

export type SeededDistribution = {
  p5: number;
  p25: number;
  p50: number;
  p75: number;
  p95: number;
  sample_size: number;
};

export type SessionToken = {
  token: string;
};

export type Severance = {
  program_id: string;
  severed_at: string;
};

export type SignedInDeveloper = {
  id: string;
  email: string;
  session_expires_at: string;
};

export type SignedInOperator = {
  /** The name of the token's holder, which the log of actions has. */
  name: string;
  /** Null if the call has a token. */
  session_expires_at: string | null;
};

export type Statement = {
  balance: Amount;
  data: Array<StatementLine>;
  /** The `cursor` of the next page; null on the last one. */
  next_cursor: string | null;
};

export type StatementLine = {
  id: string;
  kind: string;
  /** An amount below zero left the account. */
  amount: string;
  balance_after: Amount;
  reference: string;
  /** The attempt that a deposit compensates for. */
  attempt_id: string | null;
  created_at: string;
};

export type StatusChangeCause = 'calibrated' | 'seeded' | 'drift' | 'ramp' | 'operator';

export type TestKey = {
  test_key: string;
};

export type TournamentChange = {
  status: TournamentStatus;
};

export type TournamentRequest = {
  environment: Environment;
  name: string;
  description?: string | null | undefined;
  metric_name: string;
  metric_unit: string;
  threshold_direction: ThresholdDirection;
  tiebreak_metric_name?: string | null | undefined;
  tiebreak_direction?: ThresholdDirection | null | undefined;
  /** USD, two places, above 0.00. */
  entry_fee: Amount;
  attempt_cap: number;
  purse_table: Array<PaidRank>;
  min_entrants: number;
  min_scored_attempts?: number | undefined;
  round_length_seconds?: number | null | undefined;
};

export type VoidRequest = {
  reason: string;
};

export type WebhookDelivery = {
  id: string;
  event: WebhookEventType;
  status: DeliveryStatus;
  created_at: string;
  next_attempt_at: string | null;
  /** Every send, oldest first. */
  attempts: Array<WebhookSend>;
};

export type WebhookDeliveryDetail = WebhookDelivery & {
  endpoint_id: string;
  /** A resend has the id of the same event. */
  event_id: string;
  /** Null for `webhook.test`. */
  program_id: string | null;
  /** Null for `webhook.test`. */
  environment: Environment | null;
  /** The body of every send, as text: a signature is of its UTF-8 bytes. */
  body: string;
  /** The delivery that a developer sent again; otherwise null. */
  resend_of: string | null;
};

export type WebhookDeliveryList = {
  data: Array<WebhookDelivery>;
  /** The `cursor` of the next page; null on the last one. */
  next_cursor: string | null;
  /**
   * The `after` that gives the rows added from now on; on a page by `after`, those after its last row. Null on a page by
   * `cursor`.
   */
  head_cursor: string | null;
};

export type WebhookEndpoint = {
  id: string;
  url: string;
  /** An empty list subscribes to every event. */
  events: Array<WebhookEventType>;
  /** Null: the endpoint gets events of every program of the developer. */
  program_id: string | null;
  /** Null: both environments. */
  environment: Environment | null;
  description: string;
  active: boolean;
  created_at: string;
};

/** Members that are absent stay unchanged. At least one member is required. */
export type WebhookEndpointChange = {
  url?: string | undefined;
  events?: Array<WebhookEventType> | undefined;
  description?: string | undefined;
  active?: boolean | undefined;
};

export type WebhookEndpointList = {
  data: Array<WebhookEndpoint>;
};

export type WebhookEndpointRequest = {
  url: string;
  events?: Array<WebhookEventType> | undefined;
  program_id?: string | undefined;
  environment?: Environment | null | undefined;
  description?: string | null | undefined;
};

/** The deliveries created in the period, by their status now. */
export type WebhookEndpointStats = {
  hours: number;
  delivered: number;
  failed: number;
  pending: number;
  /** `delivered` of `delivered` and `failed`, from 0 to 1; null if both are 0. */
  success_rate: number | null;
  /** The median duration of the sends of the newest 10,000 deliveries; null if none has ended. */
  p50_ms: number | null;
  /** Their 95th percentile. */
  p95_ms: number | null;
  /** The newest delivery of the period that has failed. */
  last_failure: WebhookFailure | null;
  /**
   * Set if the period has more than 50,000 deliveries: only those created from then on are counted. Null: all are.
   */
  counted_from: string | null;
  /** Each is one hour up to 48 hours, six up to 168, else a day; oldest first. */
  buckets: Array<WebhookStatsBucket>;
};

export type WebhookEndpointWithSecret = WebhookEndpoint & {
  /** Only this response shows the secret. */
  signing_secret: string;
};

export type WebhookEventCatalogue = {
  data: Array<WebhookEventDescription>;
};

export type WebhookEventDescription = {
  event: WebhookEventType;
  summary: string;
  /** A whole body, as it is delivered. */
  sample: Record<string, unknown>;
};

export type WebhookEventType =
  | 'webhook.test'
  | 'attempt.settled'
  | 'attempt.refunded'
  | 'challenge.suspended'
  | 'round.settled'
  | 'round.cancelled'
  | 'award.released';

export type WebhookFailure = {
  /** When the last send began, or the endpoint was switched off. */
  at: string;
  delivery_id: string;
  http_status: number | null;
  error_kind: string | null;
};

export type WebhookSend = {
  number: number;
  started_at: string;
  duration_ms: number | null;
  phases: WebhookSendPhases;
  http_status: number | null;
  error_kind: string | null;
  error: string | null;
  response_excerpt: string | null;
};

/**
 * How long each part of the send took: resolving the name, connecting with TLS, waiting for the response, reading it.
 * A part that was not reached, or not needed, is null.
 */
export type WebhookSendPhases = {
  dns_ms: number | null;
  connect_ms: number | null;
  wait_ms: number | null;
  read_ms: number | null;
};

export type WebhookStatsBucket = {
  /** Its end is the beginning of the next one. */
  from: string;
  delivered: number;
  failed: number;
};
