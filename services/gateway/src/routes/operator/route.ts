/**
 * Routes of operators are called with the name of the token's holder. A route that changes
 * something names its action.
 */
import type { OperatorSession } from '../../domain/operator-session.ts';
import { defineFor } from '../../http/route.ts';

export const defineOperatorRoute = defineFor<string>();

export interface OperatorCaller {
  readonly name: string;
  /** Undefined if the request was authenticated by a token in its header. */
  readonly session: OperatorSession | undefined;
}

/** Defines a route about the caller's own session. */
export const defineSessionRoute = defineFor<OperatorCaller>();
