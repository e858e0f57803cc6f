/**
 * Selects the creations of a batch that may be written without a read, and puts null in place of
 * the others. It keeps only the first accepted creation of each player in a contest, because the
 * first one must be written before the cap can be checked for a second one.
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
