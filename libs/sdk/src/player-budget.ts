const MINUTE_MS = 60_000;

/** Counts a request of the player. The result is undefined, or how long to wait where the player's minute is used up. */
type PlayerBudget = (playerRef: string) => number | undefined;

/**
 * What each player may ask of Laurel in a minute, so that none of them uses up the program's. Minutes are those of the clock, as Laurel counts
 * them. Only the counts of the minute under way are kept, so the memory is that of the players who were active in it.
 */
export function createPlayerBudget(requestsPerMinute: number): PlayerBudget {
  if (!Number.isInteger(requestsPerMinute) || requestsPerMinute < 1) {
    throw new TypeError('playerRequestsPerMinute is a whole number from 1 on.');
  }
  const counts = new Map<string, number>();
  let minute = 0;
  return (playerRef) => {
    const now = Date.now();
    const current = Math.floor(now / MINUTE_MS);
    if (current !== minute) counts.clear();
    minute = current;
    const count = counts.get(playerRef) ?? 0;
    if (count >= requestsPerMinute) return (current + 1) * MINUTE_MS - now;
    counts.set(playerRef, count + 1);
    return undefined;
  };
}
