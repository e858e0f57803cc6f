import { isRefused, refused } from '@laurel/errors';
import { isUuid } from '@laurel/values/ids';
import type { IntegrationClient } from '../../clients/integration.ts';
import { presentIntegration } from '../../presenters/integration.ts';
import { rotatedIntegrationSchema } from './integration-schemas.ts';
import { defineTenantRoute } from './route.ts';

const NOTE =
  'The secret before this one goes on verifying until you retire it with DELETE /v1/integrations/{id}/previous-secret.';

export const rotateIntegrationSecret = defineTenantRoute({
  method: 'post',
  path: '/integrations/{id}/rotate-secret',
  name: 'rotateIntegrationSecret',
  summary: 'Issue a new signing secret',
  description:
    'The previous secret continues to verify until it is retired. If there are two earlier secrets, the older one stops. The route takes no body and no `Idempotency-Key`: a repeated call issues another secret.',
  success: {
    status: 200,
    description: 'The integration with its new secret, which is shown only once.',
    schema: rotatedIntegrationSchema,
  },
  refusals: {
    invalid_request: 'The integration is not a `push_webhook`.',
    not_found: 'There is no such integration, or it belongs to another program.',
  },
  run: async ({ caller, params, options }, { integration }: { integration: IntegrationClient }) => {
    const integrationId = params.id ?? '';
    if (!isUuid(integrationId)) return refused('not_found');
    const rotated = await integration.rotateSecret({ tenant: caller.tenant, integrationId }, options);
    if (isRefused(rotated)) return rotated;
    return presentIntegration(rotated.integration, { signing_secret: rotated.signingSecret, note: NOTE });
  },
});
