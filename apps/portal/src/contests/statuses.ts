import type { ChallengeStatus, TournamentStatus } from '../api/api-types.ts';

export const CHALLENGE_STATUSES = [
  'calibrating',
  'live',
  'suspended',
  'closed',
] as const satisfies readonly ChallengeStatus[];

export const TOURNAMENT_STATUSES = ['active', 'paused', 'closed'] as const satisfies readonly TournamentStatus[];
