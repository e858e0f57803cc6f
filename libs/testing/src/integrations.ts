import { createHmac } from 'node:crypto';
import type { Answer, HttpClient, OutcomeBody, Partner, SendOptions } from './partner.ts';

// --- bodies, as docs/contract/partner-api.md and docs/contract/portal-api.md name their fields ---

export type TransportName = 'push_webhook' | 'pull_poll' | 'sdk_direct';

export interface IntegrationBody {
  id: string;
  transport: TransportName;
  status: 'draft' | 'active' | 'suspended';
  descriptor: Record<string, unknown>;
  has_signing_secret: boolean;
  pull_interval_seconds: number | null;
  last_polled_at: string | null;
  next_poll_at: string | null;
  consecutive_failures: number;
  last_poll_error: string | null;
  created_at: string;
}

/** Only the answers that make an integration or a secret have the secret. */
export type NewIntegrationBody = IntegrationBody & {
  signing_secret?: string;
  webhook_url?: string;
  signing_instructions?: string;
};

export interface NewIntegration {
  transport: TransportName;
  descriptor?: object;
  pull_interval_seconds?: number;
}

export interface IntegrationChange {
  descriptor?: object;
  status?: IntegrationBody['status'];
  pull_interval_seconds?: number;
}

export type RecordStatusName = 'settled' | 'duplicate' | 'ignored' | 'rejected' | 'listened';

/** The answer to a push of several records. */
export interface PushResultsBody {
  results: { index: number; attempt_id: string | null; status: RecordStatusName; code?: string }[];
}

/** An entry of the log in the portal. */
export interface LogEntryBody {
  id: string;
  kind: 'push' | 'poll';
  at: string;
  body_excerpt: string;
  error: string | null;
  records: {
    index: number;
    attempt_id: string | null;
    status: RecordStatusName;
    code: string | null;
    message: string | null;
  }[];
}

// --- a partner's server ---

/** The integrations of a partner. */
export interface Integrations {
  create(integration: NewIntegration): Promise<Answer<NewIntegrationBody>>;
  list(): Promise<Answer<{ data: IntegrationBody[] }>>;
  update(integrationId: string, change: IntegrationChange): Promise<Answer<IntegrationBody>>;
  rotateSecret(integrationId: string): Promise<Answer<IntegrationBody & { signing_secret: string; note: string }>>;
  retirePreviousSecret(integrationId: string): Promise<Answer<IntegrationBody>>;
}

export function createIntegrations({ send }: Pick<Partner, 'send'>): Integrations {
  return {
    create: (integration) => send('POST', '/v1/integrations', { body: integration }),
    list: () => send('GET', '/v1/integrations'),
    update: (integrationId, change) => send('PATCH', `/v1/integrations/${integrationId}`, { body: change }),
    rotateSecret: (integrationId) => send('POST', `/v1/integrations/${integrationId}/rotate-secret`),
    retirePreviousSecret: (integrationId) => send('DELETE', `/v1/integrations/${integrationId}/previous-secret`),
  };
}

/** `X-Service-Signature` of a body. */
export function signatureOf(secret: string, body: string | Buffer): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
}

/** Posts a body to an integration, signed with the secret; `headers` replace the signature. */
export function push<Body = OutcomeBody>(
  http: HttpClient,
  { id, secret }: { readonly id: string; readonly secret: string },
  body: string | Buffer | object,
  headers: SendOptions['headers'] = {},
): Promise<Answer<Body>> {
  const raw = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
  const signed = { 'x-service-signature': signatureOf(secret, raw), ...headers };
  return http.send('POST', `/webhooks/integrations/${id}/outcome`, { raw, headers: signed });
}
