const MINUTE_MS = 60_000;

/**
 * Counts a request of the player. Returns undefined, or how long to wait if the player's minute is
 * used up.
 */
type PlayerBudget = (playerRef: string) => number | undefined;

/**
 * Limits each player's requests a minute, so that no player uses up the program's. A minute begins
 * with a minute of the clock, as Laurel's does. Keeps only the counts of the current minute, so
 * memory depends on the number of players who are active in that minute.
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
