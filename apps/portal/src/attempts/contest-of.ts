import type { AttemptLine } from '../api/api-types.ts';

/** What an attempt is of: one of the two is null. */
export type Parent = Pick<AttemptLine, 'challenge_id' | 'tournament_round_id'>;

export function contestOf(attempt: Parent): 'challenge' | 'round' {
  return attempt.challenge_id === null ? 'round' : 'challenge';
}
