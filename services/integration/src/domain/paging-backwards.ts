/**
 * When a poll of a newest-first list has seen everything new: at a page that has a record of an
 * earlier poll and no new record. A refused or ignored record counts as neither, so a page that has
 * only such records does not end the poll.
 *
 * A poll may resume where `max_pages` ended the previous poll. New records may have moved the list
 * since, so the resumed poll may see some pages again. So it ends only at its last page, and only
 * if no page of the poll had anything new.
 */

/**
 * - `new`: the page had a record that was settled or kept now.
 * - `known`: it had no such record, but one that an earlier poll had.
 * - `none`: neither.
 */
export type PageNews = 'new' | 'known' | 'none';

export function hasReachedKnown(
  { page, isResumed, hasNews }: { readonly page: number; readonly isResumed: boolean; readonly hasNews: boolean },
  news: PageNews,
  maxPages: number,
): boolean {
  if (news !== 'known') return false;
  return !isResumed || (page >= maxPages && !hasNews);
}
