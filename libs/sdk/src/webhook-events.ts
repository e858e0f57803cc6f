/** The bodies of webhooks, named as the components of the OpenAPI document. Amounts are JSON numbers, timestamps ISO 8601 in UTC. */

/** The data of an event of the sandbox has `test: true`. */
interface Sandboxed {
  test?: true;
}

export interface EventAward {
  id: string;
  /** USD. */
  amount: number;
  payout_status: 'paid' | 'held';
}

export interface WebhookTest {
  event: 'webhook.test';
  timestamp: string;
  data: { message: string };
}

export interface AttemptSettled {
  event: 'attempt.settled';
  timestamp: string;
  data: Sandboxed & {
    attempt_id: string;
    challenge_id: string | null;
    tournament_round_id: string | null;
    player_ref: string;
    score: number;
    met_threshold: boolean;
    award: EventAward | null;
    recorded_at: string;
  };
}

export interface AttemptRefunded {
  event: 'attempt.refunded';
  timestamp: string;
  data: Sandboxed & {
    attempt_id: string;
    challenge_id: string | null;
    tournament_round_id: string | null;
    player_ref: string;
    /** USD. */
    amount: number;
    reason: 'expired' | 'round_closed' | 'round_cancelled' | 'voided';
  };
}

export interface ChallengeSuspended {
  event: 'challenge.suspended';
  timestamp: string;
  data: Sandboxed & { challenge_id: string; name: string };
}

export interface RoundSettled {
  event: 'round.settled';
  timestamp: string;
  data: Sandboxed & {
    tournament_round_id: string;
    tournament_id: string;
    ranked_players: number;
    /** USD. */
    purse: number;
  };
}

export interface RoundCancelled {
  event: 'round.cancelled';
  timestamp: string;
  data: Sandboxed & { tournament_round_id: string; tournament_id: string };
}

export interface AwardReleased {
  event: 'award.released';
  timestamp: string;
  data: Sandboxed & {
    award: EventAward;
    attempt_id: string | null;
    challenge_id: string | null;
    tournament_round_id: string | null;
    player_ref: string;
  };
}

/** Told apart by `event`. Types of events may be added: let a `switch` over it have a `default` that accepts what it does not know. */
export type WebhookEvent =
  | WebhookTest
  | AttemptSettled
  | AttemptRefunded
  | ChallengeSuspended
  | RoundSettled
  | RoundCancelled
  | AwardReleased;
