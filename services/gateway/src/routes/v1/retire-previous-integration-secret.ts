import { isRefused, refused } from '@laurel/errors';
import { isUuid } from '@laurel/values/ids';
import type { IntegrationClient } from '../../clients/integration.ts';
import { presentIntegration } from '../../presenters/integration.ts';
import { integrationSchema } from './integration-schemas.ts';
import { defineTenantRoute } from './route.ts';

export const retirePreviousIntegrationSecret = defineTenantRoute({
  method: 'delete',
  path: '/integrations/{id}/previous-secret',
  name: 'retirePreviousIntegrationSecret',
  summary: 'Retire the previous signing secret',
  description: 'Afterwards only the current secret verifies. If there is no earlier secret, the call changes nothing.',
  success: { status: 200, description: 'As it is now.', schema: integrationSchema },
  refusals: { not_found: 'There is no such integration, or it belongs to another program.' },
  run: async ({ caller, params, options }, { integration }: { integration: IntegrationClient }) => {
    const integrationId = params.id ?? '';
    if (!isUuid(integrationId)) return refused('not_found');
    const retired = await integration.retirePreviousSecret(
      { tenant: caller.tenant, integrationId },
      { ...options, retryLostReply: true },
    );
    return isRefused(retired) ? retired : presentIntegration(retired.integration);
  },
});
