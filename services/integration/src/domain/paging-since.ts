/**
 * Whether paging by `since` has come to a halt: more records of one instant than a page holds. The partner answers the same full page each
 * time, its last record names the value that the page was requested with, and what follows is never read.
 *
 * A page that is not full is no halt: it ends with the newest record, and reads it again with the next poll. How much a page holds is known
 * where it is the most that a page may have, where the request asks for so many (`limit=50`), and where the page before it in the same poll
 * had as many and more followed; a halt lasts until the cursor moves.
 */
import { MAX_RECORDS } from '@laurel/limits';

/** The records of a page in order, as they were sent, each with its value. */
export type SincePage = readonly { readonly text: string; readonly value: string | null }[];

/** The names by which lists are asked for pages of a size: `limit`, `page_size`, `perPage`, `$top`, `max_results`. */
const SIZE_NAME = /limit|size|count|per.?page|max|take|top|first|rows/i;

type SinceRequest = {
  readonly url: string;
  readonly cursor: string | null;
  /** The page before this one in the same poll. */
  readonly before: SincePage | null;
  /** Whether the poll before this one came to a halt at the same cursor. */
  readonly wasStuck: boolean;
};

/** Whether a page that names the value that it was requested with ends the paging for good. */
export function isStuck(page: SincePage, request: SinceRequest): boolean {
  return page.length > 0 && page.every(({ value }) => value === request.cursor) && isFull(page, request);
}

function isFull(page: SincePage, { url, before, wasStuck }: SinceRequest): boolean {
  if (page.length >= MAX_RECORDS) return true;
  const sizes = sizesOf(url);
  if (sizes.length > 0) return sizes.includes(page.length);
  if (before === null) return wasStuck;
  const texts = new Set(before.map(({ text }) => text));
  return before.length === page.length && page.some(({ text }) => !texts.has(text));
}

function sizesOf(url: string): number[] {
  const named = Array.from(new URL(url).searchParams).filter(([name]) => SIZE_NAME.test(name));
  return named.map(([, value]) => Number(value)).filter((size) => Number.isInteger(size) && size > 0);
}
