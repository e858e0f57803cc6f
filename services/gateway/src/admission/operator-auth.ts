/**
 * Authenticates operators: by a bearer token of the configuration (`operator-tokens.ts`), or by the
 * cookie of a session that such a token opened (`operator-sessions.ts`). In both cases the caller
 * is known by the name of the token's holder.
 */
import type { Request, RequestHandler, Response } from 'express';
import { sendError } from '../http/answer.ts';
import { contextOf } from '../http/context.ts';
import { OPERATOR_COOKIE, tokenOf } from '../http/session-cookie.ts';
import { bearerTokenOf } from './bearer-token.ts';
import type { OperatorSessions } from './operator-sessions.ts';
import type { OperatorTokens } from './operator-tokens.ts';
import { isAllowedByCookie, isOtherPage, OTHER_PAGE_MESSAGE } from './own-page.ts';
import { sendTooMany } from './rate-limit.ts';
import { NOT_SIGNED_IN } from './session.ts';

export const NO_OPERATOR_TOKEN = 'The operator token is missing or not valid.';

export interface OperatorAuth {
  readonly tokens: OperatorTokens;
  readonly sessions: OperatorSessions;
  /** The client's address, also behind proxies. */
  readonly addressOf: (request: Request) => string;
  readonly isCookieSecure: boolean;
}

/** Lets operators pass. A request with a bearer token is decided by that token alone. */
export function requireOperator(auth: OperatorAuth): RequestHandler {
  const { sessions, isCookieSecure } = auth;
  return async (request, response, next) => {
    const bearerToken = bearerTokenOf(request);
    if (bearerToken !== undefined) {
      if (passToken(auth, bearerToken, request, response)) next();
      return;
    }
    const cookie = tokenOf(request, OPERATOR_COOKIE);
    if (cookie === undefined) return sendError(response, 'unauthorized', NO_OPERATOR_TOKEN);
    const found = await sessions.find(cookie);
    if (found === null) return sendError(response, 'unauthorized', NOT_SIGNED_IN);
    if (!isAllowedByCookie(request, isCookieSecure)) return sendError(response, 'forbidden', OTHER_PAGE_MESSAGE);
    const context = contextOf(response);
    context.operator = found.operator;
    context.operatorSession = found.session;
    next();
  };
}

/**
 * Decides before the body of a sign-in is read: whether its client must wait, and whether a page of
 * another origin sent it. Such a page could sign an operator in under another name.
 */
export function admitSignIn({ tokens, addressOf, isCookieSecure }: OperatorAuth): RequestHandler {
  return (request, response, next) => {
    const wait = tokens.waitOf(addressOf(request));
    if (wait !== null) return sendTooMany(response, wait);
    if (isOtherPage(request, isCookieSecure)) return sendError(response, 'forbidden', OTHER_PAGE_MESSAGE);
    next();
  };
}

/** Lets a sign-in pass whose token is right. Its cookie, if any, decides nothing. */
export function requireSignInToken(auth: OperatorAuth, sentTokenOf: (response: Response) => string): RequestHandler {
  return (request, response, next) => {
    if (passToken(auth, sentTokenOf(response), request, response)) next();
  };
}

/** Whether a presented token is right. If it is, its holder is the caller; otherwise responds. */
function passToken({ tokens, addressOf }: OperatorAuth, token: string, request: Request, response: Response): boolean {
  const verdict = tokens.check(token, addressOf(request));
  if (verdict.kind === 'right') contextOf(response).operator = verdict.operator;
  else if (verdict.kind === 'limited') sendTooMany(response, verdict.wait);
  else sendError(response, 'unauthorized', NO_OPERATOR_TOKEN);
  return verdict.kind === 'right';
}
