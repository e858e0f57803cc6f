/**
 * Authenticates the portal's callers by the session's token, as `Authorization: Bearer` or in the
 * cookie that sign-in sets. Sessions are not cached between calls, so an ended session is over
 * immediately on every replica.
 */
import type { Database } from '@laurel/postgres';
import type { Clock } from '@laurel/service';
import type { RequestHandler } from 'express';
import { hashesUnder, type Peppers } from '../domain/peppers.ts';
import { hashToken } from '../domain/session.ts';
import { sendError } from '../http/answer.ts';
import { contextOf } from '../http/context.ts';
import { DEVELOPER_COOKIE, tokenOf } from '../http/session-cookie.ts';
import { findSession } from '../repository/sessions.ts';
import { bearerTokenOf } from './bearer-token.ts';
import { isAllowedByCookie, OTHER_PAGE_MESSAGE } from './own-page.ts';

export const NOT_SIGNED_IN = 'You are not signed in, or your session has ended.';

/**
 * Lets a signed-in developer pass. A change that the cookie authenticates must come from a page of
 * this origin.
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
    const token = bearerToken ?? tokenOf(request, DEVELOPER_COOKIE);
    const tokenHashes = hashesUnder(peppers, (pepper) => hashToken(pepper, token ?? ''));
    const session = token === undefined ? null : await findSession(database, tokenHashes, clock());
    if (session === null) return sendError(response, 'unauthorized', NOT_SIGNED_IN);

    const isByCookie = bearerToken === undefined;
    if (isByCookie && !isAllowedByCookie(request, isCookieSecure)) {
      return sendError(response, 'forbidden', OTHER_PAGE_MESSAGE);
    }
    contextOf(response).session = session;
    next();
  };
}
