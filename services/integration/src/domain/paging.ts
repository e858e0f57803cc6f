/**
 * How a poll goes from page to page. Only the pages' content and the stored cursor decide; the caller makes the requests.
 *
 * - `none`: one page, and no cursor.
 * - `cursor`: a page names the next cursor, which is sent as a query parameter.
 * - `next_url`: a page names the next URL, absolute or relative to its own; it must have the origin of `pull.url`, because the request
 *   carries the secret of `pull.auth`.
 * - `since`: the value that the last record with one has at the pointer, sent as a query parameter. A page without any ends the poll.
 *
 * A page that names nothing, null or an empty text ends the poll, and so does one that names its own cursor again. The cursor to store with
 * a page is the one it names; a page that names none keeps the cursor it was requested with, so the next poll reads the last page again and
 * sees what was added to it. What was settled is then answered as a duplicate.
 *
 * A list whose next pages are older (`"order": "newest_first"`) has its new records on its first page, so a poll begins there unless
 * `max_pages` ended the one before: that one is gone on with (paging-backwards.ts says when it ends). Its cursor is forgotten at the end.
 *
 * A cursor may be as long as the URL that it is sent in allows: one that is stored can always be requested.
 */
import { MAX_URL_CHARACTERS } from '@laurel/untrusted-url';
import type { Descriptor, Paging, Pull } from './descriptor.ts';
import { type Json, type PointerFailure, partAt } from './json-body.ts';
import { type JsonPointer, shortened } from './json-pointer.ts';
import { hasReachedKnown, type PageNews } from './paging-backwards.ts';
import { isStuck, type SincePage } from './paging-since.ts';
import { recordParts } from './read-body.ts';

export type PageRequest = {
  readonly url: string;
  /** What the page was requested with, and what is stored if it names no other; null before there is one. */
  readonly cursor: string | null;
  /** 1 for the first page of a poll. */
  readonly page: number;
  /** Whether the poll goes on with a stored cursor. */
  readonly isResumed: boolean;
  /** Whether a page of the poll before this one brought a record that was not known. */
  readonly hasNews: boolean;
  /** Of `since`: the page before this one in the same poll. */
  readonly before: SincePage | null;
  /** Of `since`: whether the last poll came to a halt at the cursor that this one begins with. */
  readonly wasStuck: boolean;
};

type UnreadablePage = { readonly kind: 'unreadable'; readonly failure: PointerFailure };

export type NextPage =
  | { readonly kind: 'next'; readonly request: PageRequest; readonly cursor: string }
  | { readonly kind: 'end'; readonly cursor: string | null }
  /** Of `since`: records of one instant fill the page, and what follows them is never reached. */
  | { readonly kind: 'stuck' }
  | UnreadablePage;

/**
 * The page that a poll begins with. A cursor that another descriptor left behind may be no URL of this origin, or too long for this one:
 * then it begins anew.
 */
export function firstRequest(pull: Pull, cursor: string | null, wasStuck = false): PageRequest {
  const anew = requestOf(pull, null);
  if (cursor === null || pull.paging.type === 'none') return anew;
  if (pull.paging.type === 'next_url' && urlOf(cursor, pull.url, pull) === null) return anew;
  const resumed = { ...requestOf(pull, cursor), isResumed: true, wasStuck };
  return fits(resumed.url) ? resumed : anew;
}

/** Why no poll can begin: the URL with its query, and with `initial`, is longer than a URL may be. Null where one can. */
export function checkFirstRequest(pull: Pull): string | null {
  if (fits(firstRequest(pull, null).url)) return null;
  return `pull.url: the URL must not be longer than ${MAX_URL_CHARACTERS} characters with its query.`;
}

/** What follows a page that was read; `news` is what its records brought. */
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

/** As the first page of a poll that begins anew. */
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

/** A page without a name for the next is the last; anything but a cursor in its place is a mistake. */
function cursorOf(page: Json, pointer: JsonPointer): string | null | UnreadablePage {
  const part = partAt(page, pointer);
  if (part === null || part.value === null || part.value === '') return null;
  return textOf(part) ?? unreadable(pointer, 'must be a string, a number or null');
}

/** The records as they were sent, and the value that each has; a record without one is a bad record, which is skipped. */
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

/** A string, or a number as it was sent: a double may not keep its digits. */
function textOf({ value, text }: Json): string | null {
  if (typeof value === 'string') return value;
  return typeof value === 'number' ? text : null;
}

/** The URL in full if it has the origin that the secret was given for; null otherwise. */
function urlOf(text: string, base: string, pull: Pull): string | null {
  const url = URL.parse(text, base);
  if (url === null || url.origin !== new URL(pull.url).origin) return null;
  if (url.username !== '' || url.password !== '') return null;
  url.hash = '';
  return url.href;
}

function unreadable({ text }: JsonPointer, message: string): UnreadablePage {
  return { kind: 'unreadable', failure: { pointer: shortened(text), field: 'pull.paging.pointer', message } };
}
