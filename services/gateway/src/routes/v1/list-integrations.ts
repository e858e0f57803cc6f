import { isRefused } from '@laurel/errors';
import type { IntegrationClient } from '../../clients/integration.ts';
import { defineRoute } from '../../http/v1-route.ts';
import { presentIntegration } from '../../presenters/integration.ts';
import { integrationListSchema } from './integration-schemas.ts';

export const listIntegrations = defineRoute({
  method: 'get',
  path: '/integrations',
  name: 'listIntegrations',
  summary: "The program's integrations",
  description: "Of the program, in the key's environment. No answer shows a secret.",
  success: { status: 200, description: 'Newest first.', schema: integrationListSchema },
  refusals: {},
  run: async ({ principal, requestId }, { integration }: { integration: IntegrationClient }) => {
    const listed = await integration.listIntegrations(
      { tenant: principal.tenant },
      { requestId, retryLostReply: true },
    );
    if (isRefused(listed)) return listed;
    return `{"data":[${listed.integrations.map((one) => presentIntegration(one)).join()}]}`;
  },
});
