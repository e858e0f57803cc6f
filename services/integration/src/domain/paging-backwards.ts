/**
 * When a poll of a list with the newest records first has seen all that is new: at a page that holds a record of an earlier poll and none that
 * is new. A record that is refused or left out is neither, so pages of those alone do not end it.
 *
 * A poll that goes on where `max_pages` ended the one before may see pages of that one again, because new records have moved the list by some
 * pages since. So it ends only at its last page, and only if it brought nothing new at all.
 */

/** `new`: a record that was settled or kept now; `known`: none, but one of an earlier poll; `none`: neither. */
export type PageNews = 'new' | 'known' | 'none';

export function hasReachedKnown(
  { page, isResumed, hasNews }: { readonly page: number; readonly isResumed: boolean; readonly hasNews: boolean },
  news: PageNews,
  maxPages: number,
): boolean {
  if (news !== 'known') return false;
  return !isResumed || (page >= maxPages && !hasNews);
}
