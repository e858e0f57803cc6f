/**
 * The creations of a batch that may be written without a read, null for the others: of those that are accepted on cached facts at most one
 * for each player of a contest. Whether another passes the cap is known only once the first is written.
 */
export function oneForEachPlayer<Created>(
  accepted: readonly (Created | null)[],
  playerOf: (created: Created) => string,
): readonly (Created | null)[] {
  const players = new Set<string>();
  return accepted.map((created) => {
    if (created === null) return null;
    const player = playerOf(created);
    if (players.has(player)) return null;
    players.add(player);
    return created;
  });
}
