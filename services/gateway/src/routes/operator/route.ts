/**
 * Routes of operators are called with the name of the token's holder. A route that changes
 * something names its action.
 */
import { defineFor } from '../../http/route.ts';

export const defineOperatorRoute = defineFor<string>();
