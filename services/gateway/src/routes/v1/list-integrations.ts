import { isRefused } from '@laurel/errors';
import type { IntegrationClient } from '../../clients/integration.ts';
import { presentIntegration } from '../../presenters/integration.ts';
import { integrationListSchema } from './integration-schemas.ts';
import { defineTenantRoute } from './route.ts';

export const listIntegrations = defineTenantRoute({
  method: 'get',
  path: '/integrations',
  name: 'listIntegrations',
  summary: 'List the integrations of the program',
  description: "The list has the program's integrations in the key's environment. It shows no secret.",
  success: { status: 200, description: 'Newest first.', schema: integrationListSchema },
  refusals: {},
  run: async ({ caller, options }, { integration }: { integration: IntegrationClient }) => {
    const listed = await integration.listIntegrations({ tenant: caller.tenant }, { ...options, retryLostReply: true });
    if (isRefused(listed)) return listed;
    return `{"data":[${listed.integrations.map((one) => presentIntegration(one)).join()}]}`;
  },
});
