/**
 * Authenticates the portal's callers by the session's token, as `Authorization: Bearer` or in the
 * cookie that sign-in sets. Sessions are not cached between calls, so an ended session is over
 * immediately on every replica.
 */
import type { Database } from '@laurel/postgres';
import type { Clock } from '@laurel/service';
import { parseCookie, stringifySetCookie } from 'cookie';
import type { Request, RequestHandler } from 'express';
import { hashesUnder, type Peppers } from '../domain/peppers.ts';
import { hashToken } from '../domain/session.ts';
import { sendError } from '../http/answer.ts';
import { contextOf } from '../http/context.ts';
import { findSession } from '../repository/sessions.ts';
import { bearerTokenOf } from './bearer-token.ts';

const COOKIE = 'laurel_session';
/** Loopback hosts: browsers send them secure cookies even without TLS. */
const LOOPBACK = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/;
export const NOT_SIGNED_IN = 'You are not signed in, or your session has ended.';
const NOT_OUR_PAGE =
  'With the cookie only a page of this site may change anything (Sec-Fetch-Site, Origin): a program sends the token as Authorization: Bearer.';

const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Lets a signed-in developer pass. A browser attaches the cookie to requests that the developer did
 * not intend. A change authenticated by the cookie must therefore show that a page of this origin
 * made it (isOwnPage).
 */
export function requireDeveloper(options: {
  database: Database;
  peppers: Peppers;
  clock: Clock;
  isCookieSecure: boolean;
}): RequestHandler {
  const { database, peppers, clock, isCookieSecure } = options;
  return async (request, response, next) => {
    const bearerToken = bearerTokenOf(request);
    const token = bearerToken ?? cookieOf(request);
    const tokenHashes = hashesUnder(peppers, (pepper) => hashToken(pepper, token ?? ''));
    const session = token === undefined ? null : await findSession(database, tokenHashes, clock());
    if (session === null) return sendError(response, 'unauthorized', NOT_SIGNED_IN);

    const isByCookie = bearerToken === undefined;
    if (isByCookie && !SAFE_METHODS.has(request.method) && !isOwnPage(request, isCookieSecure)) {
      return sendError(response, 'forbidden', NOT_OUR_PAGE);
    }
    contextOf(response).session = session;
    next();
  };
}

/**
 * Whether a page of this origin made the request, by headers that browsers set and no page can
 * forge. If `Sec-Fetch-Site` is present, it must be `same-origin`. Without it (a browser from
 * before 2023, or a page without TLS), `Origin` must name the host of the request; if the cookie is
 * secure, the page must use TLS too, except on a loopback host. A request with neither header, such
 * as a program sends, shows nothing.
 */
export function isOwnPage({ headers, headersDistinct }: Request, isCookieSecure: boolean): boolean {
  const site = headersDistinct['sec-fetch-site'];
  if (site !== undefined) return site.length === 1 && site[0] === 'same-origin';
  const [origin = '', ...others] = headersDistinct.origin ?? [];
  if (others.length > 0 || !URL.canParse(origin)) return false;
  const { protocol, host } = new URL(origin);
  const isWebPage = protocol === 'https:' || (protocol === 'http:' && (!isCookieSecure || LOOPBACK.test(host)));
  return isWebPage && host !== '' && host === hostOf(headers.host, protocol);
}

/**
 * The host as a URL of that protocol writes it: lower case, without the default port. Undefined if
 * the text is not a host.
 */
function hostOf(host: string | undefined, protocol: string): string | undefined {
  const url = `${protocol}//${host}`;
  if (host === undefined || !URL.canParse(url)) return undefined;
  const { host: written, pathname, search, hash, username } = new URL(url);
  return pathname === '/' && search + hash + username === '' ? written : undefined;
}

/**
 * A cookie that lasts as long as the session; null removes it. No script can read it, and no other
 * site's page sends it.
 */
export function sessionCookie(token: string | null, options: { maxAgeSeconds: number; secure: boolean }): string {
  return stringifySetCookie({
    name: COOKIE,
    value: token ?? '',
    maxAge: token === null ? 0 : options.maxAgeSeconds,
    path: '/api/portal',
    httpOnly: true,
    sameSite: 'strict',
    secure: options.secure,
  });
}

function cookieOf(request: Request): string | undefined {
  const { cookie } = request.headers;
  return cookie === undefined ? undefined : parseCookie(cookie)[COOKIE];
}
