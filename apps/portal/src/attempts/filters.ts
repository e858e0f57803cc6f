/** What both lists of attempts can be filtered by. */

export const ATTEMPT_STATUSES = ['open', 'settled', 'expired', 'voided'] as const;

interface Contest {
  readonly challenge_id?: string | undefined;
  readonly tournament_round_id?: string | undefined;
}

/** An attempt is at a challenge or in a round: the filter that was set last replaces the other. */
export function withOneContest<Search extends Contest>(before: Search, next: Search): Search {
  if (next.challenge_id === undefined || next.tournament_round_id === undefined) return next;
  const replaced = before.challenge_id === undefined ? 'tournament_round_id' : 'challenge_id';
  return { ...next, [replaced]: undefined };
}
