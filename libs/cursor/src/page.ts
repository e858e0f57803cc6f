/** Rows that were read one more than `limit`: the page, and its last row where another page follows; null on the last page. */
export function cutPage<Row>(
  found: readonly Row[],
  limit: number,
): { readonly page: readonly Row[]; readonly last: Row | null } {
  const page = found.slice(0, limit);
  return { page, last: found.length > limit ? (page.at(-1) ?? null) : null };
}
