/**
 * Complete examples for the documents: one story, from the list of challenges to the webhooks, in which every id, amount and instant agrees
 * with the others. A test checks each against its schema.
 */
import { DEFAULT_MESSAGE, type ErrorCode } from '@laurel/errors';

export type Example = { readonly summary: string; readonly value: unknown };
export type Examples = Readonly<Record<string, Example>>;

const CHALLENGE_ID = '01a19b7c-a680-74d5-8c30-75b7b3806f7f';
const SEEDED_CHALLENGE_ID = '01a1fdfa-4600-769f-b192-ee3270e2b021';
const ROUND_ID = '01a1fdfa-4600-76d8-8c8f-e4c5a859265a';
const TOURNAMENT_ID = '01a1d75a-9400-7e4d-a17c-931a2a6e56a9';
const CHALLENGE_ATTEMPT_ID = '01a1fdfa-467d-8152-9460-4b70f2a96346';
const ROUND_ATTEMPT_ID = '01a1fe0c-ac8e-82ae-bfe2-57a2323c0e35';
const AWARD_ID = '01a1fdfe-1bb6-813d-a9a2-778f37ab36b4';
const RECEIPT_ID = '01a1fdfe-1bb6-8068-bfc0-75db48716c1d';
const ROUND_RECEIPT_ID = '01a1fe17-43f4-8035-a817-f7113c170130';
const PLAYER_REF = 'player-7c1';
const INTEGRATION_ID = '01a1fdf5-b280-7c64-9d0f-3e8a6b5c2417';

export const PARAMETER_EXAMPLES = {
  id: INTEGRATION_ID,
  attempt_id: CHALLENGE_ATTEMPT_ID,
  round_id: ROUND_ID,
  player_ref: PLAYER_REF,
  idempotency_key: '0b1f7e0c-5b7e-4a52-9f0e-8d2c6a3f4e11',
} as const;

/** Of a parameter in the path of a route: `{id}` is a challenge's or an integration's. */
export function parameterExample(path: string, name: string): string | undefined {
  if (path.startsWith('/challenges/{id}')) return SEEDED_CHALLENGE_ID;
  return PARAMETER_EXAMPLES[name as keyof typeof PARAMETER_EXAMPLES];
}

/** The form of the secret that a developer is shown once, when an endpoint is made. It signs the examples, and no endpoint. */
export const EXAMPLE_WEBHOOK_SECRET = 'whsec_c2e4b61a8fcc4a6779a16d478ed495c953a8570d87467c05eaac1362995464bb';

/** The form of the secret of a `push_webhook` integration: its 64 characters are the key. It signs the examples, and no integration. */
export const EXAMPLE_SIGNING_SECRET = '7d0c5e1b9a3f4826c1d7e09b54a8f3627be1c09d83f5a64270b9ce18d3f7a520';

const challenge = {
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

const calibratingChallenge = {
  ...challenge,
  id: SEEDED_CHALLENGE_ID,
  name: 'One lap in the rain',
  description: null,
  fee: '0.00',
  status: 'calibrating',
  threshold: null,
  calibration: { collected: 41, required: 200, playersCollected: 9, playersRequired: 20 },
};

const { calibration, ...seededChallenge } = calibratingChallenge;
const rampingChallenge = {
  ...seededChallenge,
  fee: '1.25',
  prize: '5.00',
  status: 'live',
  threshold: 66.4,
  calibration_source: 'partner_seeded',
  ramp: { active: true, fullPrize: '12.75', attemptsSeen: 34, attemptsRequired: 100 },
};

const openAttempt = {
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

const openEntry = {
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

const wonOutcome = {
  attempt_id: CHALLENGE_ATTEMPT_ID,
  score: 58.214,
  met_threshold: true,
  threshold_applied: 59.8,
  recorded_at: '2026-11-21T12:04:11.318Z',
  receipt_id: RECEIPT_ID,
};

const award = { id: AWARD_ID, amount: '12.75', paid_at: '2026-11-21T12:04:11.331Z' };

const roundOutcome = {
  attempt_id: ROUND_ATTEMPT_ID,
  score: 58.214,
  met_threshold: false,
  threshold_applied: null,
  recorded_at: '2026-11-21T12:31:40.020Z',
  receipt_id: ROUND_RECEIPT_ID,
  award: null,
};

const purse = {
  purse_amount: '40.25',
  purse_table: [
    { rank: 1, amount: '25.00' },
    { rank: 2, amount: '15.25' },
  ],
};

const runningRound = {
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
  ...purse,
  pool_amount: '0.00',
  rollover_in: '0.00',
  entrant_count: 3,
  attempt_cap: 3,
  min_entrants: 2,
  min_scored_attempts: 0,
};
const settledRound = { ...runningRound, status: 'settled', settled_at: '2026-11-21T13:00:04.117Z' };

const pushDescriptor = {
  version: 1,
  map: {
    records: '/runs',
    when: [{ pointer: '/state', in: ['finished'] }],
    attempt: { attempt_id: '/attempt' },
    score: '/seconds',
    evidence: { replay: '/replay' },
  },
};

const draftIntegration = {
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

const polledIntegration = {
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

const undecided = { final_rank: null, payout_amount: null, payout_status: 'none' };
const rows = [
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
const [first, second, third] = rows;

/** The bodies of requests, by the name of the route. */
export const REQUEST_EXAMPLES: Readonly<Record<string, Examples>> = {
  seedDistribution: {
    percentiles: {
      summary: 'Lap times in seconds',
      value: { distribution: { p5: 61.6, p25: 68, p50: 74.2, p75: 82.5, p95: 97.1 }, sample_size: 12400 },
    },
  },
  linkPlayer: {
    link: { summary: 'A player who has an account', value: { player_ref: PLAYER_REF, email: 'player@example.com' } },
  },
  createAttempt: {
    challenge: {
      summary: 'Against a challenge',
      value: { challenge_id: CHALLENGE_ID, player_ref: PLAYER_REF, metadata: openAttempt.metadata },
    },
    round: { summary: 'In a round', value: { tournament_round_id: ROUND_ID, player_ref: PLAYER_REF } },
  },
  reportOutcome: {
    score: {
      summary: 'A score with what it rests on',
      value: { score: 58.214, evidence: { replay: 'r-77120', checkpoints: [14.02, 29.55, 44.871, 58.214] } },
    },
    tiebreak: { summary: 'In a tournament that declares a tiebreak', value: { score: 3, tiebreak: 41.2 } },
  },
  createIntegration: {
    canonical: { summary: 'Pushes of the canonical body', value: { transport: 'push_webhook' } },
    mapped: {
      summary: "Pushes in the game's own words",
      value: { transport: 'push_webhook', descriptor: pushDescriptor },
    },
  },
  updateIntegration: {
    activate: { summary: 'Take it into use', value: { status: 'active' } },
    interval: { summary: 'Poll less often', value: { pull_interval_seconds: 120 } },
  },
  pushOutcome: {
    record: {
      summary: 'One record, with the descriptor `{}`',
      value: { attempt_id: CHALLENGE_ATTEMPT_ID, score: 58.214, evidence: { replay: 'r-77120' } },
    },
    batch: {
      summary: 'Several records',
      value: [
        { attempt_id: CHALLENGE_ATTEMPT_ID, score: 58.214 },
        { attempt_id: ROUND_ATTEMPT_ID, score: 58.214 },
      ],
    },
  },
};

/** The bodies of successes, by the name of the route. */
export const RESPONSE_EXAMPLES: Readonly<Record<string, Examples>> = {
  listChallenges: {
    live: { summary: 'The default list', value: { data: [challenge] } },
    all: {
      summary: '`status=all`, with one that is calibrating',
      value: {
        data: [challenge, calibratingChallenge],
      },
    },
    ramp: { summary: 'After it was seeded: the prize is capped', value: { data: [challenge, rampingChallenge] } },
  },
  seedDistribution: {
    seeded: {
      summary: 'The bar that follows: a fifth of the laps are at least as fast',
      value: {
        challenge_id: SEEDED_CHALLENGE_ID,
        threshold: 66.4,
        target_pass_rate: 0.2,
        sample_size: 12400,
        calibration_source: 'partner_seeded',
        provisional: true,
        note: 'The bar is provisional: until settled attempts have confirmed it, the prize is at most 20 % of the ceiling of its integrity tier.',
      },
    },
  },
  linkPlayer: {
    linked: {
      summary: 'Linked',
      value: { player_ref: PLAYER_REF, linked: true, created_at: '2026-11-20T18:22:40.507Z' },
    },
  },
  createAttempt: {
    challenge: { summary: 'Against a challenge', value: openAttempt },
    round: { summary: 'In a round', value: openEntry },
  },
  reportOutcome: {
    paid: { summary: 'A win, paid', value: { ...wonOutcome, award: { ...award, payout_status: 'paid' } } },
    held: {
      summary: 'A win, held for review: no money moved',
      value: { ...wonOutcome, award: { ...award, paid_at: null, payout_status: 'held' } },
    },
    missed: {
      summary: 'The bar was not cleared',
      value: { ...wonOutcome, score: 60.4, met_threshold: false, award: null },
    },
    round: { summary: 'In a round', value: roundOutcome },
  },
  getAttempt: {
    open: { summary: 'Open', value: openAttempt },
    settled: { summary: 'Settled', value: { ...openAttempt, status: 'settled', outcome: { ...wonOutcome, award } } },
    expired: { summary: 'Expired: the fee is back', value: { ...openEntry, status: 'expired' } },
  },
  listTournaments: {
    active: {
      summary: 'One tournament and its open round',
      value: {
        data: [
          {
            id: TOURNAMENT_ID,
            name: 'Harbour hour',
            description: null,
            metric_name: 'lap time',
            metric_unit: 's',
            threshold_direction: 'lower_is_better',
            entry_fee: '2.25',
            attempt_cap: 3,
            status: 'active',
            created_at: '2026-11-14T00:00:00.000Z',
            current_round: runningRound,
          },
        ],
      },
    },
  },
  getLeaderboard: {
    running: {
      summary: 'Running: the own row and its neighbours',
      value: {
        round: runningRound,
        scored_players: 3,
        data: [
          { ...first, ...undecided },
          { ...second, ...undecided },
        ],
      },
    },
    settled: {
      summary: 'Settled: the complete table',
      value: {
        round: settledRound,
        scored_players: 3,
        data: [
          { ...first, final_rank: 1, payout_amount: '25.00', payout_status: 'paid' },
          { ...second, final_rank: 2, payout_amount: '15.25', payout_status: 'paid' },
          { ...third, final_rank: 3, payout_amount: '0.00', payout_status: 'none' },
        ],
      },
    },
    masked: {
      summary: 'Masked: no player named, or a player who is not in the round',
      value: {
        locked: true,
        reason: 'enter_to_see',
        round: runningRound,
        entrant_count: 3,
        scored_players: 3,
        min_entrants: 2,
        min_scored_attempts: 0,
        ...purse,
        closes_at: runningRound.closes_at,
      },
    },
  },
  createIntegration: {
    push: {
      summary: 'A `push_webhook`, with its secret',
      value: {
        ...draftIntegration,
        signing_secret: EXAMPLE_SIGNING_SECRET,
        webhook_url: `/webhooks/integrations/${INTEGRATION_ID}/outcome`,
        signing_instructions: 'Send each outcome by POST to webhook_url with the header X-Service-Signature: ...',
      },
    },
    direct: {
      summary: 'An `sdk_direct`: nothing to configure',
      value: { ...draftIntegration, transport: 'sdk_direct', descriptor: {}, has_signing_secret: false },
    },
  },
  listIntegrations: {
    both: { summary: 'A poll that times out, and a push', value: { data: [polledIntegration, draftIntegration] } },
  },
  updateIntegration: {
    active: { summary: 'In use', value: { ...draftIntegration, status: 'active' } },
  },
  rotateIntegrationSecret: {
    rotated: {
      summary: 'With its new secret',
      value: {
        ...draftIntegration,
        status: 'active',
        signing_secret: 'e19f64a2c70b8d35f2a9c4176be80d53914fa7c2068de3b5917c0a6df4825be3',
        note: 'The secret before this one goes on verifying until you retire it.',
      },
    },
  },
  retirePreviousIntegrationSecret: {
    retired: { summary: 'Only the current secret verifies', value: { ...draftIntegration, status: 'active' } },
  },
  pushOutcome: {
    settled: {
      summary: 'One record: the outcome, as `/v1` answers it',
      value: { ...wonOutcome, award: { ...award, payout_status: 'paid' } },
    },
    batch: {
      summary: 'Several records: what became of each',
      value: {
        results: [
          { index: 0, attempt_id: CHALLENGE_ATTEMPT_ID, status: 'duplicate' },
          { index: 1, attempt_id: ROUND_ATTEMPT_ID, status: 'rejected', code: 'round_closed' },
        ],
      },
    },
  },
};

/** The message and the details of a validation failure, where an answer has them: on a route with a body, and on one with a query. */
const INVALID = {
  body: { message: 'The body is not valid.', details: { issues: [{ field: 'player_ref', message: 'is missing' }] } },
  query: { message: 'The query is not valid.', details: { issues: [{ field: 'player_ref', message: 'is missing' }] } },
  outcome: { message: 'The body is not valid.', details: { issues: [{ field: 'score', message: 'is missing' }] } },
  status: {
    message: 'The query is not valid.',
    details: { issues: [{ field: 'status', message: 'must be `all`, or absent' }] },
  },
  transport: {
    message: 'The body is not valid.',
    details: { issues: [{ field: 'transport', message: 'is missing' }] },
  },
  interval: {
    message: 'The body is not valid.',
    details: { issues: [{ field: 'pull_interval_seconds', message: 'must be at least 30' }] },
  },
  distribution: {
    message: 'The body is not valid.',
    details: { issues: [{ field: 'sample_size', message: 'must be at least 500' }] },
  },
  plainQuery: { message: 'The query is not valid.' },
};
const INVALID_OF_ROUTE: Readonly<Record<string, object>> = {
  createIntegration: INVALID.transport,
  updateIntegration: INVALID.interval,
  rotateIntegrationSecret: { message: 'The integration is not a push_webhook.' },
  pushOutcome: { message: 'The body is not valid JSON.' },
  listChallenges: INVALID.query,
  seedDistribution: INVALID.distribution,
  listTournaments: INVALID.status,
  getLeaderboard: INVALID.plainQuery,
  reportOutcome: INVALID.outcome,
  linkPlayer: INVALID.body,
  createAttempt: INVALID.body,
};

/** One answer for each code that a status may carry. */
export function errorExamples(routeName: string, codes: readonly ErrorCode[]): Examples {
  return Object.fromEntries(
    codes.map((code) => {
      const said = code === 'invalid_request' ? INVALID_OF_ROUTE[routeName] : undefined;
      return [code, { summary: code, value: { error: { code, message: DEFAULT_MESSAGE[code], ...said } } }];
    }),
  );
}

export const RATE_LIMIT_EXAMPLES: Examples = {
  limited: {
    summary: 'The minute is used up',
    value: { error: 'Too many requests.', retry_after: 17, limit: 300, reset_at: '2026-11-21T12:05:00.000Z' },
  },
};

/** The first key is that of RFC 8037; neither signs anything of ours. */
export const KEY_LIST_EXAMPLES: Examples = {
  replaced: {
    summary: 'A key that was replaced, and the one that is in use',
    value: {
      keys: [
        {
          key_id: 'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k',
          algorithm: 'Ed25519',
          public_key: 'MCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=',
          from: '2026-03-02T09:00:00.000Z',
          until: '2026-09-01T09:01:00.000Z',
        },
        {
          key_id: '--6IM5l0OosLj9yWskISYhUA3n_3CURQkmrYMSha_ck',
          algorithm: 'Ed25519',
          public_key: 'MCowBQYDK2VwAyEA6kpsY+KcUgq+9VB7Ey7F+ZVHdq6+vnuSQh7qaRRG0iw=',
          from: '2026-09-01T09:00:00.000Z',
          until: null,
        },
      ],
    },
  },
};

export const RETIRED_EXAMPLES: Examples = {
  retired: {
    summary: 'Always',
    value: { error: DEFAULT_MESSAGE.client_reporting_removed, code: 'client_reporting_removed' },
  },
};

const refundedAttempt = {
  attempt_id: ROUND_ATTEMPT_ID,
  challenge_id: null,
  tournament_round_id: ROUND_ID,
  player_ref: PLAYER_REF,
  amount: 2.25,
};

/** The data of each event, and when it happened. */
export const EVENT_EXAMPLES = {
  'webhook.test': {
    timestamp: '2026-11-21T11:58:03.740Z',
    data: { message: 'This is a test of your endpoint, sent from the developer portal.' },
  },
  'attempt.settled': {
    timestamp: '2026-11-21T12:04:11.318Z',
    data: {
      attempt_id: CHALLENGE_ATTEMPT_ID,
      challenge_id: CHALLENGE_ID,
      tournament_round_id: null,
      player_ref: PLAYER_REF,
      score: 58.214,
      met_threshold: true,
      award: { id: AWARD_ID, amount: 12.75, payout_status: 'paid' },
      recorded_at: '2026-11-21T12:04:11.318Z',
    },
  },
  'attempt.refunded': { timestamp: '2026-11-21T13:00:02.604Z', data: { ...refundedAttempt, reason: 'round_closed' } },
  'challenge.suspended': {
    timestamp: '2026-11-21T14:10:00.018Z',
    data: { challenge_id: CHALLENGE_ID, name: 'One lap under a minute' },
  },
  'round.settled': {
    timestamp: '2026-11-21T13:00:04.117Z',
    data: { tournament_round_id: ROUND_ID, tournament_id: TOURNAMENT_ID, ranked_players: 3, purse: 40.25 },
  },
  'round.cancelled': {
    timestamp: '2026-11-21T13:00:04.117Z',
    data: { tournament_round_id: ROUND_ID, tournament_id: TOURNAMENT_ID },
  },
  'award.released': {
    timestamp: '2026-11-22T09:30:12.251Z',
    data: {
      award: { id: AWARD_ID, amount: 12.75, payout_status: 'paid' },
      attempt_id: CHALLENGE_ATTEMPT_ID,
      challenge_id: CHALLENGE_ID,
      tournament_round_id: null,
      player_ref: PLAYER_REF,
    },
  },
} as const;
