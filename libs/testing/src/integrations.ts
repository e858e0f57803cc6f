import {
  type CreatedIntegration,
  type Integration,
  type IntegrationChange,
  type IntegrationList,
  type IntegrationRequest,
  type Outcome,
  type RecordStatus,
  type RotatedIntegration,
  signIntegrationBody,
} from '@laurel/sdk';
import type { Answer, HttpClient, SendOptions } from './http-client.ts';
import type { Partner } from './partner.ts';

/** An entry of an integration's log in the portal. */
export interface LogEntryBody {
  id: string;
  kind: 'push' | 'poll';
  at: string;
  body_excerpt: string;
  error: string | null;
  records: {
    index: number;
    attempt_id: string | null;
    status: RecordStatus;
    code: string | null;
    message: string | null;
  }[];
}

/** The integrations of a partner. */
export interface Integrations {
  create(integration: IntegrationRequest): Promise<Answer<CreatedIntegration>>;
  list(): Promise<Answer<IntegrationList>>;
  update(integrationId: string, change: IntegrationChange): Promise<Answer<Integration>>;
  rotateSecret(integrationId: string): Promise<Answer<RotatedIntegration>>;
  retirePreviousSecret(integrationId: string): Promise<Answer<Integration>>;
}

export function createIntegrations({ call }: Pick<Partner, 'call'>): Integrations {
  return {
    create: (integration) => call(({ integrations }) => integrations.create(integration)),
    list: () => call(({ integrations }) => integrations.list()),
    update: (integrationId, change) => call(({ integrations }) => integrations.update(integrationId, change)),
    rotateSecret: (integrationId) => call(({ integrations }) => integrations.rotateSecret(integrationId)),
    retirePreviousSecret: (integrationId) =>
      call(({ integrations }) => integrations.retirePreviousSecret(integrationId)),
  };
}

/** Posts a body to an integration, signed with the secret. `headers` may replace the signature. */
export async function push<Body = Outcome>(
  http: HttpClient,
  { id, secret }: { readonly id: string; readonly secret: string },
  body: string | Buffer | object,
  headers: SendOptions['headers'] = {},
): Promise<Answer<Body>> {
  const raw = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
  const signed = { 'x-service-signature': await signIntegrationBody(raw, secret), ...headers };
  return http.send('POST', `/webhooks/integrations/${id}/outcome`, { raw, headers: signed });
}
