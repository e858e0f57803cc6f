import { refused } from '@laurel/errors';
import type { Database } from '@laurel/postgres';
import type { Logger } from '@laurel/service';
import type { SignInByLink } from '../../admission/link-sign-in.ts';
import { NOT_SIGNED_IN } from '../../admission/session.ts';
import type { SignIn, SignInResult } from '../../admission/sign-in.ts';
import type { GatewayConfig } from '../../config.ts';
import { tooManyRequests } from '../../http/answer.ts';
import { type Answer, defineFor } from '../../http/route.ts';
import { DEVELOPER_COOKIE, setCookie } from '../../http/session-cookie.ts';
import { z } from '../../http/zod.ts';
import { deleteSession, findDeveloperOf } from '../../repository/sessions.ts';
import { component } from '../component.ts';
import { email, signInSecret } from '../fields.ts';
import { timestamp, uuid } from '../v1/fields.ts';
import { definePortalRoute } from './route.ts';

const HOUR_SECONDS = 3_600;
export const INVALID_LINK = 'The link is not known, was used, or has expired.';

type CookieConfig = Pick<GatewayConfig, 'PORTAL_SESSION_HOURS' | 'PORTAL_COOKIE_SECURE'>;

const credentials = component(
  'Credentials',
  z.strictObject({
    email,
    // The limit is above the length of any password. A password that is too short fails like any
    // other wrong one.
    password: signInSecret,
  }),
);

const sessionToken = component('SessionToken', z.object({ token: z.string() }));

/** The caller has no session yet: only the client's address is known. */
const defineSignInRoute = defineFor<{ readonly address: string }>();

export const signIn = defineSignInRoute({
  method: 'post',
  path: '/session',
  name: 'signIn',
  summary: 'Sign in',
  description:
    'Takes the e-mail and the password that an operator has set. The response has a token and sets the cookie `laurel_session`. Every portal route accepts either, for 12 hours unless the installation sets another time. A wrong e-mail and a wrong password get the same 401; repeated guesses get 429.',
  body: credentials,
  success: {
    status: 201,
    description: 'The token of the session.',
    schema: sessionToken,
  },
  refusals: { unauthorized: 'The e-mail or the password is not right.' },
  run: async (
    { caller: { address }, body, options },
    dependencies: { signIn: SignIn; config: CookieConfig; logger: Logger },
  ) => {
    const result = await dependencies.signIn.signIn({ ...body, address });
    const wrong = 'The e-mail or the password is not right.';
    return answerSignIn(result, { action: 'sign_in', wrong, options }, dependencies);
  },
});

export const signInByLink = defineSignInRoute({
  method: 'post',
  path: '/session/link',
  name: 'signInByLink',
  summary: 'Sign in with a one-time link',
  description:
    'Takes the token of a link that an operator has made. A token works once, within 15 minutes; of two calls at once one signs in. The response is that of signing in with a password. An unknown, a used and an expired token get the same 401; repeated guesses get 429.',
  body: component('LinkToken', z.strictObject({ token: signInSecret })),
  success: { status: 201, description: 'The token of the session.', schema: sessionToken },
  refusals: { unauthorized: INVALID_LINK },
  run: async (
    { caller: { address }, body, options },
    dependencies: { signInByLink: SignInByLink; config: CookieConfig; logger: Logger },
  ) => {
    const result = await dependencies.signInByLink({ ...body, address });
    return answerSignIn(result, { action: 'sign_in_by_link', wrong: INVALID_LINK, options }, dependencies);
  },
});

/** The routes of the portal without a session. */
export const SIGN_IN_ROUTES = [signIn, signInByLink] as const;

function answerSignIn(
  result: SignInResult,
  { action, wrong, options }: { action: string; wrong: string; options: { readonly requestId: string } },
  { config, logger }: { config: CookieConfig; logger: Logger },
): Answer {
  if (result.kind === 'limited') return tooManyRequests(result);
  if (result.kind === 'wrong') return refused('unauthorized', wrong);
  const { token, developerId } = result;
  const line = { actor: 'developer', developerId, action, result: 'done', ...options };
  logger.info(line, 'developer action');
  return { body: { token }, headers: { 'Set-Cookie': setCookie(DEVELOPER_COOKIE, token, cookieOptions(config)) } };
}

export const signOut = definePortalRoute({
  method: 'delete',
  path: '/session',
  name: 'signOut',
  summary: 'End the session',
  description: 'The token and the cookie of this session stop working. Other sessions of the developer continue.',
  success: { status: 204, description: 'The session has ended on every replica.' },
  action: 'sign_out',
  run: async ({ caller }, { database, config }: { database: Database; config: CookieConfig }) => {
    await deleteSession(database, caller.tokenHash);
    return { headers: { 'Set-Cookie': setCookie(DEVELOPER_COOKIE, null, cookieOptions(config)) } };
  },
});

export const getSignedInDeveloper = definePortalRoute({
  method: 'get',
  path: '/me',
  name: 'getSignedInDeveloper',
  summary: 'Get the developer who is signed in',
  success: {
    status: 200,
    description: 'The developer, and when this session ends.',
    schema: component('SignedInDeveloper', z.object({ id: uuid, email: z.string(), session_expires_at: timestamp })),
  },
  run: async ({ caller }, { database }: { database: Database }) => {
    const developer = await findDeveloperOf(database, caller.tokenHash);
    if (developer === null) return refused('unauthorized', NOT_SIGNED_IN);
    const { id, email, expiresAt } = developer;
    return { body: { id, email, session_expires_at: expiresAt.toISOString() } };
  },
});

function cookieOptions(config: CookieConfig) {
  return { maxAgeSeconds: config.PORTAL_SESSION_HOURS * HOUR_SECONDS, secure: config.PORTAL_COOKIE_SECURE };
}
