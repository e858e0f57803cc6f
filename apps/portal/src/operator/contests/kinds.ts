/** A contest is a challenge or a tournament. */
export type ContestKind = 'challenge' | 'tournament';

/** The folder of a kind in the addresses of the pages and of the calls. */
export const FOLDERS = { challenge: 'challenges', tournament: 'tournaments' } as const;

export const LIST_TITLES = { challenge: 'Challenges', tournament: 'Tournaments' } as const;
