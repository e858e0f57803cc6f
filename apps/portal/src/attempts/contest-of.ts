import type { AttemptLine } from '../api/api-types.ts';

/** The contest of an attempt: one of the two members is null. */
export type ContestIds = Pick<AttemptLine, 'challenge_id' | 'tournament_round_id'>;

export function contestOf(attempt: ContestIds): 'challenge' | 'round' {
  return attempt.challenge_id === null ? 'round' : 'challenge';
}
