import { isRefused, refused } from '@laurel/errors';
import { isUuid } from '@laurel/ids';
import type { IntegrationClient } from '../../clients/integration.ts';
import { presentIntegration } from '../../presenters/integration.ts';
import { rotatedIntegrationSchema } from './integration-schemas.ts';
import { defineV1Route } from './route.ts';

const NOTE =
  'The secret before this one goes on verifying until you retire it with DELETE /v1/integrations/{id}/previous-secret.';

export const rotateIntegrationSecret = defineV1Route({
  method: 'post',
  path: '/integrations/{id}/rotate-secret',
  name: 'rotateIntegrationSecret',
  summary: 'Issue a new signing secret',
  description:
    'The secret before it goes on verifying until it is retired; of two before it, the older one stops. Takes no body and no `Idempotency-Key`: a repetition issues another secret.',
  success: { status: 200, description: 'With the new secret, shown this once.', schema: rotatedIntegrationSchema },
  refusals: {
    invalid_request: 'The integration is not a `push_webhook`.',
    not_found: "No such integration, or another program's.",
  },
  run: async ({ caller, params, options }, { integration }: { integration: IntegrationClient }) => {
    const integrationId = params.id ?? '';
    if (!isUuid(integrationId)) return refused('not_found');
    const rotated = await integration.rotateSecret({ tenant: caller.tenant, integrationId }, options);
    if (isRefused(rotated)) return rotated;
    return presentIntegration(rotated.integration, { signing_secret: rotated.signingSecret, note: NOTE });
  },
});
