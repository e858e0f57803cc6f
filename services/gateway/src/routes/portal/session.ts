import { isRefused, refused } from '@laurel/errors';
import type { Router } from 'express';
import { z } from 'zod';
import type { Dependencies } from '../../dependencies.ts';
import { tooManyRequests } from '../../middleware/answer.ts';
import { sessionCookie } from '../../middleware/session.ts';
import { deleteSession } from '../../repository/sessions.ts';
import { callOptions, developerMutation, parseBody, route, sessionOf } from '../api-route.ts';
import { email } from '../fields.ts';

const HOUR_SECONDS = 3_600;

const credentials = z.strictObject({
  email,
  // Longer than any password may be. One that is too short is as wrong as any other.
  password: z.string().max(1_000),
});

/** The one route of the portal that needs no session. */
export function signInRoute(router: Router, deps: Dependencies): void {
  router.post(
    '/session',
    route(async (request) => {
      const body = parseBody(request, credentials);
      if (isRefused(body)) return body;
      const address = request.socket.remoteAddress ?? '';
      const result = await deps.signIn.signIn({ ...body, address });
      if (result.kind === 'limited') return tooManyRequests(result);
      if (result.kind === 'wrong') return refused('unauthorized', 'The e-mail or the password is not right.');
      const { token, developerId } = result;
      const line = { actor: 'developer', developerId, action: 'sign_in', result: 'done', ...callOptions(request) };
      deps.logger.info(line, 'developer action');
      return { status: 201, body: { token }, headers: { 'Set-Cookie': sessionCookie(token, cookieOptions(deps)) } };
    }),
  );
}

export function signOutRoute(router: Router, deps: Dependencies): void {
  router.delete(
    '/session',
    developerMutation(deps, 'sign_out', async (request) => {
      await deleteSession(deps.database, sessionOf(request).tokenHash);
      return { status: 204, headers: { 'Set-Cookie': sessionCookie(null, cookieOptions(deps)) } };
    }),
  );
}

function cookieOptions({ config }: Dependencies) {
  return { maxAgeSeconds: config.PORTAL_SESSION_HOURS * HOUR_SECONDS, secure: config.PORTAL_COOKIE_SECURE };
}
