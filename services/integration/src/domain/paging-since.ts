/**
 * Whether paging by `since` is stuck, because more records share one instant than fit on a page.
 * The partner returns the same full page each time, its last record has the value that the page was
 * requested with, and no poll ever reads the records that follow.
 *
 * A page that is not full is not stuck: it ends with the newest record, and the next poll reads it
 * again. A page is known to be full in three cases: it has as many records as any page may have; it
 * has as many as the request asks for (`limit=50`); or the page before it in the same poll had as
 * many, and this one has other records. Once stuck, paging stays so until the cursor moves.
 */
import { MAX_RECORDS } from '@laurel/values/limits';

/** The records of a page in order, unchanged, each with its value. */
export type SincePage = readonly { readonly text: string; readonly value: string | null }[];

/**
 * Names of query parameters that set a page's size: `limit`, `page_size`, `perPage`, `$top`,
 * `max_results`.
 */
const SIZE_NAME = /limit|size|count|per.?page|max|take|top|first|rows/i;

type SinceRequest = {
  readonly url: string;
  readonly cursor: string | null;
  /** The page before this one in the same poll. */
  readonly before: SincePage | null;
  /** Whether the previous poll got stuck at the same cursor. */
  readonly wasStuck: boolean;
};

/**
 * Whether paging cannot continue from this page: the page is full, and each of its records has the
 * value with which the page was requested.
 */
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
