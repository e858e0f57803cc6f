/**
 * The order in which a request of `/v1` is checked, as the contract defines it
 * (docs/contract/partner-api.md, "Errors"). The first check that refuses answers the request, and
 * nothing after it takes effect.
 */
import type { RequestHandler } from 'express';

/**
 * Each check, with the statuses of its refusals. The last check is the route: the contest service
 * that it calls decides in the order of these statuses.
 */
export const CHECK_ORDER = [
  { check: 'admission', refusals: [401, 429] },
  { check: 'validation', refusals: [400] },
  { check: 'idempotencyLock', refusals: [409] },
  { check: 'route', refusals: [404, 409, 403, 402] },
] as const;

type Check = (typeof CHECK_ORDER)[number]['check'];

/** The handlers of a route, in this order. */
export function inCheckOrder(handlers: Readonly<Record<Check, RequestHandler>>): RequestHandler[] {
  return CHECK_ORDER.map(({ check }) => handlers[check]);
}
