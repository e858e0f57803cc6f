/** Attempts as the gateway describes them. */
import type { AttemptOutcome, DescribedAttempt } from '../api/api-types.ts';

export function attemptOf(fields: Partial<DescribedAttempt> = {}): DescribedAttempt {
  return {
    id: 'attempt',
    challenge_id: 'challenge',
    tournament_round_id: null,
    player_ref: 'player-1',
    status: 'open',
    fee: '1.00',
    created_at: '2026-11-26T12:00:00.000Z',
    score: null,
    met_threshold: null,
    award: null,
    metadata: {},
    outcome: null,
    timeline: [],
    deliveries: [],
    ...fields,
  };
}

export function outcomeOf(fields: Partial<AttemptOutcome> = {}): AttemptOutcome {
  return {
    attempt_id: 'attempt',
    score: 40,
    met_threshold: false,
    threshold_applied: 50,
    recorded_at: '2026-11-26T12:00:02.000Z',
    receipt_id: 'receipt',
    award: null,
    ...fields,
  };
}
