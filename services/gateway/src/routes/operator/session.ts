import { refused } from '@laurel/errors';
import type { OperatorSessions } from '../../admission/operator-sessions.ts';
import type { GatewayConfig } from '../../config.ts';
import { OPERATOR_SESSION_MS } from '../../domain/operator-session.ts';
import type { Route } from '../../http/route.ts';
import { OPERATOR_COOKIE, setCookie } from '../../http/session-cookie.ts';
import { z } from '../../http/zod.ts';
import { component } from '../component.ts';
import { signInSecret } from '../fields.ts';
import type { ActionLog } from '../operator-log.ts';
import { timestamp } from '../v1/fields.ts';
import { defineSessionRoute, type OperatorCaller } from './route.ts';

/** The dependencies of these routes and of the log of their changes. */
export interface SessionServices extends ActionLog {
  readonly operatorSessions: OperatorSessions;
  readonly config: CookieConfig;
}

type CookieConfig = Pick<GatewayConfig, 'PORTAL_COOKIE_SECURE'>;

const credentials = z.strictObject({ token: signInSecret });
export type OperatorCredentials = z.output<typeof credentials>;

const signedInOperator = {
  name: z.string().openapi({ description: "The name of the token's holder, which the log of actions has." }),
};

export const signInOperator = defineSessionRoute({
  method: 'post',
  path: '/session',
  name: 'signInOperator',
  summary: 'Sign in with a token',
  description:
    'Takes an operator token and sets the cookie `laurel_operator`, which every operator route accepts for 12 hours; no response shows what is in it. The session ends earlier when its token is no longer configured, or when the holder has begun 20 newer ones. Wrong tokens count together with those of the header.',
  body: component('OperatorCredentials', credentials),
  success: {
    status: 201,
    description: 'Signed in.',
    schema: component('OperatorSession', z.object({ ...signedInOperator, session_expires_at: timestamp })),
  },
  refusals: {
    unauthorized: 'The token is not valid.',
    forbidden: 'The headers show that a page of another site sent the request (`Sec-Fetch-Site`, `Origin`).',
  },
  action: 'sign_in',
  recording: { records: [] },
  run: async ({ caller: { name }, body: { token } }, { operatorSessions, config }: SessionServices) => {
    const session = await operatorSessions.begin({ name, token });
    return {
      body: { name, session_expires_at: session.expiresAt.toISOString() },
      headers: { 'Set-Cookie': setCookie(OPERATOR_COOKIE, session.token, cookieOptions(config)) },
    };
  },
});

const signOutOperator = defineSessionRoute({
  method: 'delete',
  path: '/session',
  name: 'signOutOperator',
  summary: 'End the session',
  description: 'The cookie of this session stops working. Other sessions of the operator continue.',
  success: { status: 204, description: 'The session has ended on every replica.' },
  refusals: { conflict: 'The call has a token and no session: there is nothing to end.' },
  action: 'sign_out',
  run: async ({ caller: { session } }, { operatorSessions, config }: SessionServices) => {
    if (session === undefined) return refused('conflict', 'This call has a token and no session.');
    await operatorSessions.end(session);
    return { headers: { 'Set-Cookie': setCookie(OPERATOR_COOKIE, null, cookieOptions(config)) } };
  },
});

const getSignedInOperator = defineSessionRoute({
  method: 'get',
  path: '/me',
  name: 'getSignedInOperator',
  summary: 'Get the operator who is signed in',
  success: {
    status: 200,
    description: 'The operator, and when this session ends.',
    schema: component(
      'SignedInOperator',
      z.object({
        ...signedInOperator,
        session_expires_at: timestamp.nullable().openapi({ description: 'Null if the call has a token.' }),
      }),
    ),
  },
  run: async ({ caller: { name, session } }, _services: SessionServices) => ({
    body: { name, session_expires_at: session?.expiresAt.toISOString() ?? null },
  }),
});

/** The routes of sessions. Like every operator route, all but the sign-in need a caller. */
export const OPERATOR_SESSION_ROUTES: readonly Route<OperatorCaller, SessionServices>[] = [
  signInOperator,
  signOutOperator,
  getSignedInOperator,
];

function cookieOptions({ PORTAL_COOKIE_SECURE }: CookieConfig) {
  return { maxAgeSeconds: OPERATOR_SESSION_MS / 1_000, secure: PORTAL_COOKIE_SECURE };
}
