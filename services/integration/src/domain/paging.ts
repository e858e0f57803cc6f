/**
 * How a poll gets from page to page. Only the pages' content and the stored cursor decide; the
 * caller makes the requests.
 *
 * - `none`: one page, and no cursor.
 * - `cursor`: a page names the next cursor, which is sent as a query parameter.
 * - `next_url`: a page names the next URL, absolute or relative to its own. It must have the origin
 *   of `pull.url`, because the request carries the secret of `pull.auth`.
 * - `since`: the value at the pointer in the last record that has one, sent as a query parameter. A
 *   page without such a record ends the poll.
 *
 * A page ends the poll if it names no next cursor (absent, null or an empty text), or if it names
 * the cursor that it was requested with. The cursor that a page names is stored; if the page names
 * no cursor, the one that it was requested with stays. So the next poll reads the last page again
 * and sees what was added. Records that were settled before are duplicates.
 *
 * A list with older records on its next pages (`"order": "newest_first"`) has new records on its
 * first page. So a poll begins there, unless `max_pages` ended the previous poll: then it resumes
 * the previous one (paging-backwards.ts says when it ends). When such a poll ends, its cursor is
 * dropped.
 *
 * A cursor may be as long as its request's URL allows, so a stored one can always be requested.
 */
import { MAX_URL_CHARACTERS } from '@laurel/untrusted-url';
import type { Descriptor, Paging, Pull } from './descriptor.ts';
import { type Json, type PointerFailure, partAt } from './json-body.ts';
import { type JsonPointer, shortenedPointer } from './json-pointer.ts';
import { hasReachedKnown, type PageNews } from './paging-backwards.ts';
import { isStuck, type SincePage } from './paging-since.ts';
import { recordParts } from './read-body.ts';

export type PageRequest = {
  readonly url: string;
  /**
   * The cursor of this request, stored again if the page names no other; null before there is one.
   */
  readonly cursor: string | null;
  /** 1 for the first page of a poll. */
  readonly page: number;
  /** Whether the poll resumes from a stored cursor. */
  readonly isResumed: boolean;
  /** Whether an earlier page of this poll brought a new record. */
  readonly hasNews: boolean;
  /** The page before this one in the same poll, for `since`. */
  readonly before: SincePage | null;
  /** Whether the last poll got stuck at the cursor with which this one begins, for `since`. */
  readonly wasStuck: boolean;
};

type UnreadablePage = { readonly kind: 'unreadable'; readonly failure: PointerFailure };

export type NextPage =
  | { readonly kind: 'next'; readonly request: PageRequest; readonly cursor: string }
  | { readonly kind: 'end'; readonly cursor: string | null }
  /**
   * For `since`: records of one instant fill the page, and no poll ever reads those that follow.
   */
  | { readonly kind: 'stuck' }
  | UnreadablePage;

/**
 * The first request of a poll. A cursor that was stored under an earlier descriptor may be a URL of
 * another origin, or too long for this URL: then paging starts over.
 */
export function firstRequest(pull: Pull, cursor: string | null, wasStuck = false): PageRequest {
  const anew = requestOf(pull, null);
  if (cursor === null || pull.paging.type === 'none') return anew;
  if (pull.paging.type === 'next_url' && urlOf(cursor, pull.url, pull) === null) return anew;
  const resumed = { ...requestOf(pull, cursor), isResumed: true, wasStuck };
  return fits(resumed.url) ? resumed : anew;
}

/** Why no poll can begin: the URL, with its query and `initial`, is too long. Null if one can. */
export function checkFirstRequest(pull: Pull): string | null {
  if (fits(firstRequest(pull, null).url)) return null;
  return `pull.url: the URL must not be longer than ${MAX_URL_CHARACTERS} characters with its query.`;
}

/** Decides what follows after a page was read. `news` says whether its records were new. */
export function nextPage(
  { map }: Descriptor,
  pull: Pull,
  request: PageRequest,
  page: Json,
  news: PageNews = 'new',
): NextPage {
  const { paging } = pull;
  const isBackwards = 'order' in paging && paging.order === 'newest_first';
  const end: NextPage = { kind: 'end', cursor: isBackwards ? null : request.cursor };
  if (paging.type === 'none') return end;
  const since = paging.type === 'since' ? sincePageOf(map, page, paging.pointer) : null;
  const named = 'order' in paging ? cursorOf(page, paging.pointer) : lastValueOf(since);
  if (named === null) return end;
  if (typeof named === 'object') return named;
  const cursor = paging.type === 'next_url' ? urlOf(named, request.url, pull) : named;
  if (cursor === null) return unreadable(paging.pointer, 'must be a URL of the origin of `pull.url`');
  if (cursor.includes('\0')) return unreadable(paging.pointer, 'must not contain NUL');
  if (cursor === request.cursor || (paging.type === 'next_url' && cursor === request.url)) {
    return since !== null && isStuck(since, request) ? { kind: 'stuck' } : end;
  }
  const next = requestOf(pull, cursor);
  if (!fits(next.url)) {
    const message = `must leave the URL of the next page at most ${MAX_URL_CHARACTERS} characters`;
    return unreadable(paging.pointer, message);
  }
  if (isBackwards && hasReachedKnown(request, news, pull.maxPages)) return end;
  if (request.page >= pull.maxPages) return { kind: 'end', cursor };
  const { isResumed } = request;
  const hasNews = request.hasNews || news === 'new';
  return { kind: 'next', request: { ...next, page: request.page + 1, isResumed, hasNews, before: since }, cursor };
}

/** The first request if paging starts over. */
function requestOf(pull: Pull, cursor: string | null): PageRequest {
  const { paging } = pull;
  const first = { cursor, page: 1, isResumed: false, hasNews: false, before: null, wasStuck: false };
  if (paging.type === 'next_url' && cursor !== null) return { ...first, url: cursor };
  const url = new URL(pull.url);
  for (const [name, value] of Object.entries(pull.query)) url.searchParams.set(name, value);
  const sent = cursor ?? initialOf(paging);
  if ('param' in paging && sent !== null) url.searchParams.set(paging.param, sent);
  return { ...first, url: url.href };
}

function fits(url: string): boolean {
  return url.length <= MAX_URL_CHARACTERS;
}

function initialOf(paging: Paging): string | null {
  return paging.type === 'since' ? paging.initial : null;
}

/** A page that names no next cursor is the last. Any other value than a cursor is a mistake. */
function cursorOf(page: Json, pointer: JsonPointer): string | null | UnreadablePage {
  const part = partAt(page, pointer);
  if (part === null || part.value === null || part.value === '') return null;
  return textOf(part) ?? unreadable(pointer, 'must be a string, a number or null');
}

/** The records, unchanged, each with its value. A record without a value is invalid and skipped. */
function sincePageOf(map: Descriptor['map'], page: Json, pointer: JsonPointer): SincePage {
  const parts = recordParts(map, page);
  if (parts.kind === 'refused') return [];
  const records = parts.kind === 'single' ? [parts.record] : parts.records;
  return records.map((record) => {
    const part = partAt(record, pointer);
    return { text: record.text, value: (part === null ? null : textOf(part)) || null };
  });
}

function lastValueOf(page: SincePage | null): string | null {
  return page?.findLast(({ value }) => value !== null)?.value ?? null;
}

/** A string, or a number with the digits that were sent: a double may not keep them. */
function textOf({ value, text }: Json): string | null {
  if (typeof value === 'string') return value;
  return typeof value === 'number' ? text : null;
}

/** The absolute URL if it has the origin that the secret is for; otherwise null. */
function urlOf(text: string, base: string, pull: Pull): string | null {
  const url = URL.parse(text, base);
  if (url === null || url.origin !== new URL(pull.url).origin) return null;
  if (url.username !== '' || url.password !== '') return null;
  url.hash = '';
  return url.href;
}

function unreadable({ text }: JsonPointer, message: string): UnreadablePage {
  return { kind: 'unreadable', failure: { pointer: shortenedPointer(text), field: 'pull.paging.pointer', message } };
}
