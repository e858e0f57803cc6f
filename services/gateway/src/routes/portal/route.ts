/** Routes of the portal are called by a developer who is signed in; a resource of another developer is not found. */
import type { Session } from '../../domain/session.ts';
import { defineFor } from '../../http/route.ts';

export const definePortalRoute = defineFor<Session>();
