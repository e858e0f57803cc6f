/**
 * Authentication of the portal: the session's token, as `Authorization: Bearer` or in the cookie that signing in sets. Nothing of a session is
 * cached between calls, so that a session that was ended is over immediately on every replica.
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

const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);
/** The values by which a browser marks a request that another site's page made (Fetch Metadata). */
const FOREIGN_SITES: ReadonlySet<string> = new Set(['cross-site', 'same-site']);

/**
 * Lets a signed-in developer pass. A browser attaches the cookie to any request,
 * so with the cookie a change must not come from a page of another site.
 */
export function requireDeveloper(options: { database: Database; peppers: Peppers; clock: Clock }): RequestHandler {
  const { database, peppers, clock } = options;
  return async (request, response, next) => {
    const bearerToken = bearerTokenOf(request);
    const token = bearerToken ?? cookieOf(request);
    const tokenHashes = hashesUnder(peppers, (pepper) => hashToken(pepper, token ?? ''));
    const session = token === undefined ? null : await findSession(database, tokenHashes, clock());
    if (session === null) return sendError(response, 'unauthorized', 'You are not signed in, or no longer.');

    const isByCookie = bearerToken === undefined;
    const site = request.headers['sec-fetch-site'];
    if (isByCookie && !SAFE_METHODS.has(request.method) && typeof site === 'string' && FOREIGN_SITES.has(site)) {
      return sendError(response, 'forbidden', 'Pages of other sites may not change anything here.');
    }
    contextOf(response).session = session;
    next();
  };
}

/** Sets the cookie for as long as the session lasts; null removes it. No script can read it, and no other site's page sends it. */
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
