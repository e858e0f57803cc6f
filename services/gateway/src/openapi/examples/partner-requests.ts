/**
 * The requests to the routes in the partner document: bodies by the name of the route, and
 * parameters.
 */
import type { Examples } from './example.ts';
import {
  CHALLENGE_ATTEMPT_ID,
  CHALLENGE_ID,
  INTEGRATION_ID,
  openAttempt,
  PLAYER_REF,
  pushDescriptor,
  ROUND_ATTEMPT_ID,
  ROUND_ID,
  SEEDED_CHALLENGE_ID,
} from './story.ts';

export const PARAMETER_EXAMPLES = {
  id: INTEGRATION_ID,
  attempt_id: CHALLENGE_ATTEMPT_ID,
  round_id: ROUND_ID,
  player_ref: PLAYER_REF,
  idempotency_key: '0b1f7e0c-5b7e-4a52-9f0e-8d2c6a3f4e11',
} as const;

/**
 * The example of a path parameter. `{id}` names a challenge or an integration, depending on the
 * path.
 */
export function parameterExample(path: string, name: string): string | undefined {
  if (path.startsWith('/challenges/{id}')) return SEEDED_CHALLENGE_ID;
  return PARAMETER_EXAMPLES[name as keyof typeof PARAMETER_EXAMPLES];
}

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
