/** Routes of the sandbox are called for a program in test, whose key was resolved by admission. */
import type { Principal } from '../../domain/principal.ts';
import { defineFor } from '../../http/route.ts';

export const defineSandboxRoute = defineFor<Principal['tenant']>();
