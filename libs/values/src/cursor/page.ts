/**
 * Takes `limit + 1` rows. Returns the page, and its last row if another page follows, else null.
 */
export function cutPage<Row>(
  found: readonly Row[],
  limit: number,
): { readonly page: readonly Row[]; readonly last: Row | null } {
  const page = found.slice(0, limit);
  return { page, last: found.length > limit ? (page.at(-1) ?? null) : null };
}
