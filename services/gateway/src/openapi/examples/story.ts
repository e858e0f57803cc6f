/**
 * The subject of both documents' examples: one story, from the list of challenges to the webhooks,
 * in which every id, amount and instant agrees with the others.
 */

export const CHALLENGE_ID = '01a19b7c-a680-74d5-8c30-75b7b3806f7f';
export const SEEDED_CHALLENGE_ID = '01a1fdfa-4600-769f-b192-ee3270e2b021';
export const ROUND_ID = '01a1fdfa-4600-76d8-8c8f-e4c5a859265a';
export const TOURNAMENT_ID = '01a1d75a-9400-7e4d-a17c-931a2a6e56a9';
export const CHALLENGE_ATTEMPT_ID = '01a1fdfa-467d-8152-9460-4b70f2a96346';
export const ROUND_ATTEMPT_ID = '01a1fe0c-ac8e-82ae-bfe2-57a2323c0e35';
export const AWARD_ID = '01a1fdfe-1bb6-813d-a9a2-778f37ab36b4';
export const RECEIPT_ID = '01a1fdfe-1bb6-8068-bfc0-75db48716c1d';
export const ROUND_RECEIPT_ID = '01a1fe17-43f4-8035-a817-f7113c170130';
export const PLAYER_REF = 'player-7c1';
export const INTEGRATION_ID = '01a1fdf5-b280-7c64-9d0f-3e8a6b5c2417';

/**
 * A secret in the form that a developer sees once, when creating an endpoint. It signs only the
 * examples, and belongs to no endpoint.
 */
export const EXAMPLE_WEBHOOK_SECRET = 'whsec_c2e4b61a8fcc4a6779a16d478ed495c953a8570d87467c05eaac1362995464bb';

/**
 * A secret in the form of a `push_webhook` integration: its 64 characters are the key. It signs
 * only the examples, and belongs to no integration.
 */
export const EXAMPLE_SIGNING_SECRET = '7d0c5e1b9a3f4826c1d7e09b54a8f3627be1c09d83f5a64270b9ce18d3f7a520';

export const challenge = {
  id: CHALLENGE_ID,
  name: 'One lap under a minute',
  description: 'A clean lap of the harbour circuit, in any car.',
  fee: '1.25',
  prize: '12.75',
  currency: 'USD',
  status: 'live',
  prize_structure: 'threshold',
  threshold: 59.8,
  min_calibration_n: 200,
  calibration_source: 'observed',
  metric_name: 'lap time',
  metric_unit: 's',
  rung: 1,
  parent_challenge_id: null,
};

export const calibratingChallenge = {
  ...challenge,
  id: SEEDED_CHALLENGE_ID,
  name: 'One lap in the rain',
  description: null,
  fee: '0.00',
  status: 'calibrating',
  threshold: null,
  calibration: { collected: 41, required: 200, playersCollected: 9, playersRequired: 20 },
};

export const { calibration, ...seededChallenge } = calibratingChallenge;
export const rampingChallenge = {
  ...seededChallenge,
  fee: '1.25',
  prize: '5.00',
  status: 'live',
  threshold: 66.4,
  calibration_source: 'partner_seeded',
  ramp: { active: true, fullPrize: '12.75', attemptsSeen: 34, attemptsRequired: 100 },
};

export const openAttempt = {
  id: CHALLENGE_ATTEMPT_ID,
  challenge_id: CHALLENGE_ID,
  tournament_round_id: null,
  player_ref: PLAYER_REF,
  status: 'open',
  fee_charged: '1.25',
  created_at: '2026-11-21T12:00:00.125Z',
  metadata: { match: 'm-20931', car: 'kestrel' },
  outcome: null,
};

export const openEntry = {
  id: ROUND_ATTEMPT_ID,
  challenge_id: null,
  tournament_round_id: ROUND_ID,
  player_ref: PLAYER_REF,
  status: 'open',
  fee_charged: '2.25',
  created_at: '2026-11-21T12:20:05.902Z',
  metadata: {},
  outcome: null,
};

export const wonOutcome = {
  attempt_id: CHALLENGE_ATTEMPT_ID,
  score: 58.214,
  met_threshold: true,
  threshold_applied: 59.8,
  recorded_at: '2026-11-21T12:04:11.318Z',
  receipt_id: RECEIPT_ID,
};

export const award = { id: AWARD_ID, amount: '12.75', paid_at: '2026-11-21T12:04:11.331Z' };

export const roundOutcome = {
  attempt_id: ROUND_ATTEMPT_ID,
  score: 58.214,
  met_threshold: false,
  threshold_applied: null,
  recorded_at: '2026-11-21T12:31:40.020Z',
  receipt_id: ROUND_RECEIPT_ID,
  award: null,
};

export const frozenPurse = {
  purse_amount: '40.25',
  purse_table: [
    { rank: 1, amount: '25.00' },
    { rank: 2, amount: '15.25' },
  ],
};

export const runningRound = {
  id: ROUND_ID,
  tournament_id: TOURNAMENT_ID,
  tournament_name: 'Harbour hour',
  status: 'open',
  opens_at: '2026-11-21T12:00:00.000Z',
  closes_at: '2026-11-21T13:00:00.000Z',
  entries_close_at: '2026-11-21T12:50:00.000Z',
  settled_at: null,
  entry_fee: '2.25',
  funding: 'house',
  ...frozenPurse,
  pool_amount: '0.00',
  rollover_in: '0.00',
  entrant_count: 3,
  attempt_cap: 3,
  min_entrants: 2,
  min_scored_attempts: 0,
};
export const settledRound = { ...runningRound, status: 'settled', settled_at: '2026-11-21T13:00:04.117Z' };

export const pushDescriptor = {
  version: 1,
  map: {
    records: '/runs',
    when: [{ pointer: '/state', in: ['finished'] }],
    attempt: { attempt_id: '/attempt' },
    score: '/seconds',
    evidence: { replay: '/replay' },
  },
};

export const draftIntegration = {
  id: INTEGRATION_ID,
  transport: 'push_webhook',
  status: 'draft',
  descriptor: pushDescriptor,
  has_signing_secret: true,
  pull_interval_seconds: null,
  last_polled_at: null,
  next_poll_at: null,
  consecutive_failures: 0,
  last_poll_error: null,
  created_at: '2026-11-21T11:55:00.480Z',
};

export const polledIntegration = {
  ...draftIntegration,
  id: '01a1fdf6-9ce0-7a1e-8b52-40d7c9e6f3a8',
  transport: 'pull_poll',
  status: 'active',
  descriptor: {
    version: 1,
    map: { records: '/runs', attempt: { attempt_id: '/attempt' }, score: '/seconds' },
    pull: { url: 'https://game.example.com/runs', auth: { type: 'bearer' }, paging: { type: 'none' } },
  },
  has_signing_secret: false,
  pull_interval_seconds: 60,
  last_polled_at: '2026-11-21T12:03:00.012Z',
  next_poll_at: '2026-11-21T12:04:00.012Z',
  consecutive_failures: 2,
  last_poll_error: 'timeout',
  created_at: '2026-11-21T11:56:00.992Z',
};

export const undecidedPayout = { final_rank: null, payout_amount: null, payout_status: 'none' };
export const boardRows = [
  {
    rank: 1,
    player_ref: PLAYER_REF,
    best_score: 58.214,
    best_tiebreak: null,
    best_score_at: '2026-11-21T12:31:40.020Z',
    paid_attempts: 1,
  },
  {
    rank: 2,
    player_ref: 'player-0a4',
    best_score: 58.9,
    best_tiebreak: null,
    best_score_at: '2026-11-21T12:11:02.440Z',
    paid_attempts: 2,
  },
  {
    rank: 3,
    player_ref: 'player-b52',
    best_score: 61.03,
    best_tiebreak: null,
    best_score_at: '2026-11-21T12:47:30.006Z',
    paid_attempts: 1,
  },
];
