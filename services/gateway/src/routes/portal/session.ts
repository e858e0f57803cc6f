import { refused } from '@laurel/errors';
import { isAtMost } from '@laurel/json';
import type { Database } from '@laurel/postgres';
import type { Logger } from '@laurel/service';
import { NOT_SIGNED_IN, sessionCookie } from '../../admission/session.ts';
import type { SignIn } from '../../admission/sign-in.ts';
import type { GatewayConfig } from '../../config.ts';
import { tooManyRequests } from '../../http/answer.ts';
import { defineFor } from '../../http/route.ts';
import { z } from '../../http/zod.ts';
import { deleteSession, findDeveloperOf } from '../../repository/sessions.ts';
import { component } from '../component.ts';
import { email } from '../fields.ts';
import { timestamp, uuid } from '../v1/fields.ts';
import { definePortalRoute } from './route.ts';

const HOUR_SECONDS = 3_600;
const MAX_SENT_CHARACTERS = 1_000;

type CookieConfig = Pick<GatewayConfig, 'PORTAL_SESSION_HOURS' | 'PORTAL_COOKIE_SECURE'>;

const credentials = component(
  'Credentials',
  z.strictObject({
    email,
    // Longer than any password may be. A password that is too short fails like any other wrong one.
    password: z
      .string()
      .refine((value) => isAtMost(value, MAX_SENT_CHARACTERS), `must have at most ${MAX_SENT_CHARACTERS} characters`)
      .openapi({ maxLength: MAX_SENT_CHARACTERS }),
  }),
);

/** The caller has no session yet: only the client's address is known. */
export const signIn = defineFor<{ readonly address: string }>()({
  method: 'post',
  path: '/session',
  name: 'signIn',
  summary: 'Sign in',
  description:
    'Takes the e-mail and the password that an operator has set. The response has a token and sets the cookie `laurel_session`. Every portal route accepts either, for 12 hours unless the host sets another time. A wrong e-mail and a wrong password get the same 401; repeated guesses get 429.',
  body: credentials,
  success: {
    status: 201,
    description: 'The token of the session.',
    schema: component('SessionToken', z.object({ token: z.string() })),
  },
  refusals: { unauthorized: 'The e-mail or the password is not right.' },
  run: async (
    { caller: { address }, body, options },
    dependencies: { signIn: SignIn; config: CookieConfig; logger: Logger },
  ) => {
    const { config, logger } = dependencies;
    const result = await dependencies.signIn.signIn({ ...body, address });
    if (result.kind === 'limited') return tooManyRequests(result);
    if (result.kind === 'wrong') return refused('unauthorized', 'The e-mail or the password is not right.');
    const { token, developerId } = result;
    const line = { actor: 'developer', developerId, action: 'sign_in', result: 'done', ...options };
    logger.info(line, 'developer action');
    return { body: { token }, headers: { 'Set-Cookie': sessionCookie(token, cookieOptions(config)) } };
  },
});

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
    return { headers: { 'Set-Cookie': sessionCookie(null, cookieOptions(config)) } };
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
