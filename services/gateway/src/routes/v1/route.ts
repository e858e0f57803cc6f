/**
 * Routes of `/v1` are called with the principal of an API key, and refuse with the codes of the
 * contract.
 */
import type { ErrorCode } from '@laurel/errors';
import type { Principal } from '../../domain/principal.ts';
import { defineFor, type Route } from '../../http/route.ts';

export type V1Route<Dependencies> = Route<Principal, Dependencies, ErrorCode>;

export const defineV1Route = defineFor<Principal, ErrorCode>();

/** Defines a route that the portal runs too: it uses only the key's program and environment. */
export const defineTenantRoute = defineFor<Pick<Principal, 'tenant'>, ErrorCode>();
