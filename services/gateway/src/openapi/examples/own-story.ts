/** What the examples of our own routes add to the story: the developer, the program and the accounts behind it. */
import {
  AWARD_ID,
  CHALLENGE_ATTEMPT_ID,
  challenge,
  INTEGRATION_ID,
  PLAYER_REF,
  purse,
  runningRound,
  TOURNAMENT_ID,
} from './story.ts';

export const DEVELOPER_ID = '01a19a55-3c00-7b1e-9d61-55c0a7f8e214';
export const PROGRAM_ID = '01a19a56-9b40-7c27-8e3a-0d94b1f6c375';
export const ACCOUNT_ID = '01a1a001-52c0-7f4d-a2b8-6e17c9d03f52';
export const ENDPOINT_ID = '01a1fdf2-1c80-7a93-b5e4-72f8d01c6a3b';
export const DELIVERY_ID = '01a1fdfe-1c08-77ea-9971-a23ba615b142';
export const RESENT_DELIVERY_ID = '01a1fe4b-77d0-7e15-8c02-94a6b3d5f107';
export const SANDBOX_EVENTS_CURSOR = 'WyIwMWExOWE1Ni05YjQwLTdjMjctOGUzYS0wZDk0YjFmNmMzNzUiLCI0MiJd';
export const REQUEST_ID = '01a1fdfa-4680-7d10-9c2e-5f0a1b7c3d42';

/** Of the form of a key; neither is one. */
export const TEST_KEY = 'sk_test_example000000000000000000000000000000000000';
export const LIVE_KEY = 'sk_live_example000000000000000000000000000000000000';

const testKey = {
  environment: 'test',
  prefix: 'sk_test_',
  last4: '0000',
  created_at: '2026-11-01T09:00:00.000Z',
  last_used_at: '2026-11-21T12:04:11.290Z',
};
const liveKey = { ...testKey, environment: 'live', prefix: 'sk_live_', created_at: '2026-11-12T14:20:00.000Z' };

export const draftProgram = {
  id: PROGRAM_ID,
  name: 'Harbour Racing',
  status: 'draft',
  deletion_scheduled: false,
  created_at: '2026-11-01T09:00:00.000Z',
  keys: [{ ...testKey, last_used_at: null }],
};
export const program = { ...draftProgram, status: 'approved', keys: [testKey, liveKey] };

export const programLimits = {
  program_id: PROGRAM_ID,
  environment: 'live',
  payout_limit: '5000.00',
  fee_limit: '200.00',
  paid: '412.75',
};

export const account = {
  id: ACCOUNT_ID,
  email: 'player@example.com',
  date_of_birth: '1990-12-31',
  jurisdiction: 'US-CA',
  verification_level: 2,
  self_excluded_until: null,
  enforcement_flag: false,
  under_investigation: false,
  blocked: false,
  fee_limit: null,
  sandbox_only: false,
  program_id: null,
  created_at: '2026-11-02T10:12:45.000Z',
};

/** What the operator sets of the challenge, and the challenge as operators see it. */
export const challengeTerms = {
  environment: 'live',
  name: challenge.name,
  description: challenge.description,
  fee: challenge.fee,
  prize: challenge.prize,
  metric_name: challenge.metric_name,
  metric_unit: challenge.metric_unit,
  threshold_direction: 'lower_is_better',
  score_min: 40,
  score_max: 600,
  target_pass_rate: 0.2,
  integrity_tier: 1,
};
export const operatorChallenge = {
  ...challenge,
  program_id: PROGRAM_ID,
  environment: 'live',
  configured_fee: challenge.fee,
  configured_prize: challenge.prize,
  threshold_direction: 'lower_is_better',
  target_pass_rate: 0.2,
  integrity_tier: 1,
  top_n: null,
  score_min: 40,
  score_max: 600,
  min_calibration_players: 20,
  daily_attempt_cap: 10,
  required_verification_level: 0,
  jurisdictions: [],
  created_at: '2026-11-13T08:00:00.000Z',
};

export const tournamentTerms = {
  environment: 'live',
  name: 'Harbour hour',
  metric_name: 'lap time',
  metric_unit: 's',
  threshold_direction: 'lower_is_better',
  entry_fee: '2.25',
  attempt_cap: 3,
  purse_table: purse.purse_table,
  min_entrants: 2,
  round_length_seconds: 3600,
};
export const operatorTournament = {
  id: TOURNAMENT_ID,
  ...tournamentTerms,
  description: null,
  status: 'active',
  created_at: '2026-11-14T00:00:00.000Z',
  current_round: runningRound,
  program_id: PROGRAM_ID,
  tiebreak_metric_name: null,
  tiebreak_direction: null,
  purse_amount: purse.purse_amount,
  min_scored_attempts: 0,
};

export const heldPayout = {
  award_id: AWARD_ID,
  attempt_id: CHALLENGE_ATTEMPT_ID,
  round_id: null,
  program_id: PROGRAM_ID,
  environment: 'live',
  account_id: ACCOUNT_ID,
  amount: '12.75',
  status: 'held',
  reason: 'payout_velocity',
  created_at: '2026-11-21T12:04:11.331Z',
  paid_at: null,
};

export const endpoint = {
  id: ENDPOINT_ID,
  url: 'https://game.example.com/laurel',
  events: ['attempt.settled', 'attempt.refunded'],
  program_id: PROGRAM_ID,
  environment: null,
  description: 'Results',
  active: true,
  created_at: '2026-11-20T16:40:00.000Z',
};

/** Of a parameter in a path or a query, by its name. */
export const OWN_PARAMETER_EXAMPLES: Readonly<Record<string, string>> = {
  programId: PROGRAM_ID,
  accountId: ACCOUNT_ID,
  challengeId: challenge.id,
  tournamentId: TOURNAMENT_ID,
  roundId: runningRound.id,
  attemptId: CHALLENGE_ATTEMPT_ID,
  awardId: AWARD_ID,
  receiptId: '01a1fdfe-1bb6-8068-bfc0-75db48716c1d',
  endpointId: ENDPOINT_ID,
  deliveryId: DELIVERY_ID,
  integrationId: INTEGRATION_ID,
  playerRef: PLAYER_REF,
};
