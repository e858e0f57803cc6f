/** The successful responses of the routes in the partner document. */
import { DEFAULT_MESSAGE } from '@laurel/errors';
import type { Examples } from './example.ts';
import {
  award,
  boardRows,
  CHALLENGE_ATTEMPT_ID,
  calibratingChallenge,
  challenge,
  draftIntegration,
  EXAMPLE_SIGNING_SECRET,
  frozenPurse,
  INTEGRATION_ID,
  openAttempt,
  openEntry,
  PLAYER_REF,
  polledIntegration,
  ROUND_ATTEMPT_ID,
  rampingChallenge,
  roundOutcome,
  runningRound,
  SEEDED_CHALLENGE_ID,
  settledRound,
  TOURNAMENT_ID,
  undecidedPayout,
  wonOutcome,
} from './story.ts';

const [first, second, third] = boardRows;

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
          { ...first, ...undecidedPayout },
          { ...second, ...undecidedPayout },
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
        ...frozenPurse,
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

/** Two example keys, which sign nothing in Laurel. The first one is the key of RFC 8037. */
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
