/**
 * When a poll of a newest-first list has seen everything new: at a page that has a record of an
 * earlier poll and no new record. A refused or ignored record counts as neither, so a page of only
 * those does not end the poll.
 *
 * A poll that resumes where `max_pages` ended the one before may see some of its pages again,
 * because new records have moved the list by some pages since. So it ends only at the last page,
 * and only if it brought nothing new at all.
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
