/**
 * The routes of the developer portal that need a session, so that a test can check a rule over all
 * of them.
 */

interface PortalRoute {
  readonly method: string;
  /**
   * The path below `/api/portal`, with `{program}`, `{endpoint}` or `{delivery}` instead of an id.
   */
  readonly path: string;
  /** A body with which the route would succeed. */
  readonly body?: object;
}

export type Resource = 'program' | 'endpoint' | 'delivery';

export const PORTAL_ROUTES: readonly PortalRoute[] = [
  { method: 'GET', path: '/programs' },
  { method: 'POST', path: '/programs/{program}/test-key' },
  { method: 'GET', path: '/programs/{program}/challenges?environment=test' },
  { method: 'GET', path: '/programs/{program}/tournaments?environment=test' },
  { method: 'GET', path: '/programs/{program}/integrations?environment=test' },
  {
    method: 'POST',
    path: '/programs/{program}/integrations',
    body: { environment: 'test', transport: 'push_webhook' },
  },
  { method: 'POST', path: '/webhook-endpoints', body: { url: 'https://127.0.0.1:9443/', events: [] } },
  { method: 'GET', path: '/webhook-endpoints' },
  { method: 'GET', path: '/webhook-endpoints/{endpoint}' },
  { method: 'PATCH', path: '/webhook-endpoints/{endpoint}', body: { active: false, description: 'mine now' } },
  { method: 'DELETE', path: '/webhook-endpoints/{endpoint}' },
  { method: 'POST', path: '/webhook-endpoints/{endpoint}/rotate-secret' },
  { method: 'POST', path: '/webhook-endpoints/{endpoint}/test' },
  { method: 'GET', path: '/webhook-endpoints/{endpoint}/deliveries' },
  { method: 'POST', path: '/deliveries/{delivery}/resend' },
  { method: 'DELETE', path: '/session' },
];

/** The kind of resource in the route's path, if any. */
export function resourceOf({ path }: PortalRoute): Resource | undefined {
  return /\{(\w+)\}/.exec(path)?.[1] as Resource | undefined;
}

/** The route's path with this id in it. */
export function pathOf({ path }: PortalRoute, id: string): string {
  return path.replace(/\{\w+\}/, id);
}
