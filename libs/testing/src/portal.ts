import type { WebhookEventType } from '@laurel/sdk';
import type { Answer, HttpClient, SendOptions } from './http-client.ts';
import type { ProgramBody } from './operator.ts';

// --- bodies, with the field names of docs/contract/portal-api.md ---

export const EVENT_TYPES = [
  'webhook.test',
  'attempt.settled',
  'attempt.refunded',
  'challenge.suspended',
  'round.settled',
  'round.cancelled',
  'award.released',
] as const satisfies readonly WebhookEventType[];

export interface EndpointBody {
  id: string;
  url: string;
  events: WebhookEventType[];
  program_id: string | null;
  environment: 'test' | 'live' | null;
  description: string;
  active: boolean;
  created_at: string;
}

export interface DeliveryBody {
  id: string;
  event: WebhookEventType;
  status: 'pending' | 'delivered' | 'failed';
  created_at: string;
  next_attempt_at: string | null;
  attempts: DeliveryAttemptBody[];
}

export interface EndpointStatsBody {
  hours: number;
  delivered: number;
  failed: number;
  pending: number;
  success_rate: number | null;
  p50_ms: number | null;
  p95_ms: number | null;
  last_failure: { at: string; delivery_id: string; http_status: number | null; error_kind: string | null } | null;
  counted_from: string | null;
  buckets: { from: string; delivered: number; failed: number }[];
}

export interface DeliveryDetailBody extends DeliveryBody {
  endpoint_id: string;
  event_id: string;
  program_id: string | null;
  environment: 'test' | 'live' | null;
  body: string;
  resend_of: string | null;
}

export interface DeliveryAttemptBody {
  number: number;
  started_at: string;
  duration_ms: number | null;
  phases: Record<'dns_ms' | 'connect_ms' | 'wait_ms' | 'read_ms', number | null>;
  http_status: number | null;
  error_kind: string | null;
  error: string | null;
  response_excerpt: string | null;
}

/**
 * An endpoint in the response that creates it or replaces its secret. Only these two responses show
 * the secret.
 */
export type EndpointWithSecret = EndpointBody & { signing_secret: string };

export interface Credentials {
  readonly email: string;
  readonly password: string;
}

/** The body of `POST /api/portal/webhook-endpoints`. */
export interface NewEndpoint {
  url: string;
  events?: readonly WebhookEventType[];
  program_id?: string | null;
  environment?: 'test' | 'live' | null;
  description?: string | null;
}

export interface EndpointChange {
  url?: string;
  events?: readonly WebhookEventType[];
  description?: string;
  active?: boolean;
}

export interface DeliveryQuery {
  status?: DeliveryBody['status'];
  event?: WebhookEventType;
  limit?: number;
  cursor?: string;
}

// --- a developer ---

/** The developer portal for one session. */
export interface Portal {
  /** The token of the session. */
  readonly token: string;
  /** Sends any request with this session; the path is appended to `/api/portal`. */
  send<Body = unknown>(method: string, path: string, options?: SendOptions): Promise<Answer<Body>>;
  signOut(): Promise<Answer<undefined>>;
  listPrograms(): Promise<Answer<{ data: ProgramBody[]; next_cursor: string | null }>>;
  replaceTestKey(programId: string): Promise<Answer<{ test_key: string }>>;
  createEndpoint(endpoint: NewEndpoint): Promise<Answer<EndpointWithSecret>>;
  listEndpoints(): Promise<Answer<{ data: EndpointBody[] }>>;
  getEndpoint(endpointId: string): Promise<Answer<EndpointBody>>;
  updateEndpoint(endpointId: string, change: EndpointChange): Promise<Answer<EndpointBody>>;
  deleteEndpoint(endpointId: string): Promise<Answer<undefined>>;
  rotateSecret(endpointId: string): Promise<Answer<EndpointWithSecret>>;
  sendTest(endpointId: string): Promise<Answer<{ delivery_id: string }>>;
  /** A page of the delivery log, newest first. */
  listDeliveries(
    endpointId: string,
    query?: DeliveryQuery,
  ): Promise<Answer<{ data: DeliveryBody[]; next_cursor: string | null }>>;
  getDelivery(deliveryId: string): Promise<Answer<DeliveryDetailBody>>;
  getStats(endpointId: string, hours?: number): Promise<Answer<EndpointStatsBody>>;
  resendFailed(
    endpointId: string,
    period: { from: string; to: string },
  ): Promise<Answer<{ resent: number; more: boolean; resume_from: string | null }>>;
  resend(deliveryId: string): Promise<Answer<{ delivery_id: string }>>;
}

/** Opens a session; pass its token to `createPortal`. */
export function signIn(http: HttpClient, credentials: Credentials): Promise<Answer<{ token: string }>> {
  return http.send('POST', '/api/portal/session', { body: credentials });
}

export function createPortal(http: HttpClient, token: string): Portal {
  const send: Portal['send'] = (method, path, options = {}) =>
    http.send(method, `/api/portal${path}`, {
      ...options,
      headers: { authorization: `Bearer ${token}`, ...options.headers },
    });
  return {
    token,
    send,
    signOut: () => send('DELETE', '/session'),
    listPrograms: () => send('GET', '/programs'),
    replaceTestKey: (programId) => send('POST', `/programs/${programId}/test-key`),
    createEndpoint: (endpoint) => send('POST', '/webhook-endpoints', { body: { events: [], ...endpoint } }),
    listEndpoints: () => send('GET', '/webhook-endpoints'),
    getEndpoint: (endpointId) => send('GET', `/webhook-endpoints/${endpointId}`),
    updateEndpoint: (endpointId, change) => send('PATCH', `/webhook-endpoints/${endpointId}`, { body: change }),
    deleteEndpoint: (endpointId) => send('DELETE', `/webhook-endpoints/${endpointId}`),
    rotateSecret: (endpointId) => send('POST', `/webhook-endpoints/${endpointId}/rotate-secret`),
    sendTest: (endpointId) => send('POST', `/webhook-endpoints/${endpointId}/test`),
    listDeliveries: (endpointId, query = {}) => {
      const parameters = new URLSearchParams();
      for (const [name, value] of Object.entries(query)) parameters.set(name, String(value));
      return send('GET', `/webhook-endpoints/${endpointId}/deliveries?${parameters}`);
    },
    getDelivery: (deliveryId) => send('GET', `/deliveries/${deliveryId}`),
    getStats: (endpointId, hours = 24) => send('GET', `/webhook-endpoints/${endpointId}/stats?hours=${hours}`),
    resendFailed: (endpointId, period) =>
      send('POST', `/webhook-endpoints/${endpointId}/resend-failed`, { body: period }),
    resend: (deliveryId) => send('POST', `/deliveries/${deliveryId}/resend`),
  };
}
