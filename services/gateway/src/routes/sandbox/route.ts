/** Routes of the sandbox are called for a program in test; admission has resolved its API key. */
import type { Principal } from '../../domain/principal.ts';
import { defineFor } from '../../http/route.ts';

export const defineSandboxRoute = defineFor<Principal['tenant']>();
