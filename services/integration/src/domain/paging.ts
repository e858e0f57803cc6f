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
 */
import type { Descriptor, Paging, Pull } from './descriptor.ts';
import { type Json, type PointerFailure, partAt } from './json-body.ts';
import { type JsonPointer, shortened } from './json-pointer.ts';
import { recordParts } from './read-body.ts';

export type PageRequest = {
  readonly url: string;
  /** What the page was requested with, and what is stored if it names no other; null before there is one. */
  readonly cursor: string | null;
  /** 1 for the first page of a poll. */
  readonly page: number;
};

type UnreadablePage = { readonly kind: 'unreadable'; readonly failure: PointerFailure };

export type NextPage =
  | { readonly kind: 'next'; readonly request: PageRequest; readonly cursor: string }
  | { readonly kind: 'end'; readonly cursor: string | null }
  | UnreadablePage;

/** A cursor is stored, and sent in a URL. */
const MAX_CURSOR_CHARACTERS = 2_048;

/** The page that a poll begins with. A cursor that another descriptor left behind may be no URL of this origin: then it begins anew. */
export function firstRequest(pull: Pull, cursor: string | null): PageRequest {
  const isUsable = cursor !== null && (pull.paging.type !== 'next_url' || urlOf(cursor, pull.url, pull) !== null);
  return requestOf(pull, isUsable && pull.paging.type !== 'none' ? cursor : null, 1);
}

/** What follows a page that was read. */
export function nextPage({ map }: Descriptor, pull: Pull, request: PageRequest, page: Json): NextPage {
  const { paging } = pull;
  const end: NextPage = { kind: 'end', cursor: request.cursor };
  if (paging.type === 'none') return end;
  const named = paging.type === 'since' ? sinceOf(map, page, paging.pointer) : cursorOf(page, paging.pointer);
  if (named === null) return end;
  if (typeof named === 'object') return named;
  const cursor = paging.type === 'next_url' ? urlOf(named, request.url, pull) : named;
  if (cursor === null) return unreadable(paging.pointer, 'must be a URL of the origin of `pull.url`');
  if (cursor.length > MAX_CURSOR_CHARACTERS || cursor.includes('\0')) {
    return unreadable(paging.pointer, `must have at most ${MAX_CURSOR_CHARACTERS} characters, none of them NUL`);
  }
  if (cursor === request.cursor || (paging.type === 'next_url' && cursor === request.url)) return end;
  if (request.page >= pull.maxPages) return { kind: 'end', cursor };
  return { kind: 'next', request: requestOf(pull, cursor, request.page + 1), cursor };
}

function requestOf(pull: Pull, cursor: string | null, page: number): PageRequest {
  const { paging } = pull;
  if (paging.type === 'next_url' && cursor !== null) return { url: cursor, cursor, page };
  const url = new URL(pull.url);
  for (const [name, value] of Object.entries(pull.query)) url.searchParams.set(name, value);
  const sent = cursor ?? initialOf(paging);
  if ('param' in paging && sent !== null) url.searchParams.set(paging.param, sent);
  return { url: url.href, cursor, page };
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

/** A record without the value is a bad record, which is skipped. */
function sinceOf(map: Descriptor['map'], page: Json, pointer: JsonPointer): string | null {
  const parts = recordParts(map, page);
  if (parts.kind === 'refused') return null;
  const records = parts.kind === 'single' ? [parts.record] : parts.records;
  for (const record of records.toReversed()) {
    const part = partAt(record, pointer);
    const text = part === null ? null : textOf(part);
    if (text !== null && text !== '') return text;
  }
  return null;
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
