/** Routes of operators are called with the name of the token's holder. One that changes something names its action. */
import { defineFor } from '../api-route.ts';

export const defineOperatorRoute = defineFor<string>();
