/**
 * Routes of the portal are called by a signed-in developer; another developer's resource is not
 * found.
 */
import type { Session } from '../../domain/session.ts';
import { defineFor } from '../../http/route.ts';

export const definePortalRoute = defineFor<Session>();

/**
 * Defines a route that is served below a program too: it uses only the developer of the session.
 */
export const defineDeveloperRoute = defineFor<Pick<Session, 'developerId'>>();
