import { isRefused, refused } from '@laurel/errors';
import { isUuid } from '@laurel/ids';
import { MAX_DESCRIPTOR_BYTES } from '@laurel/limits';
import { INTEGRATION_STATUSES } from '@laurel/proto/enum-names';
import { IntegrationStatus } from '@laurel/proto/integration';
import type { IntegrationClient } from '../../clients/integration.ts';
import { presentIntegration } from '../../presenters/integration.ts';
import { integrationSchema, updateIntegrationBody } from './integration-schemas.ts';
import { defineV1Route } from './route.ts';

export const updateIntegration = defineV1Route({
  method: 'patch',
  path: '/integrations/{id}',
  name: 'updateIntegration',
  summary: 'Change an integration',
  description:
    'Only what is sent changes. A new descriptor takes the place of the whole old one. Takes no `Idempotency-Key`.',
  body: updateIntegrationBody,
  verbatim: { descriptor: MAX_DESCRIPTOR_BYTES },
  success: { status: 200, description: 'As it is now.', schema: integrationSchema },
  refusals: {
    invalid_request:
      'An unknown status; a descriptor or an interval that breaks its rules; an unsafe URL to poll; a `push_webhook` without a signing secret, or a `pull_poll` without a URL, becomes `active`.',
    not_found: "No such integration, or another program's.",
  },
  run: async ({ caller, params, body, verbatim, options }, { integration }: { integration: IntegrationClient }) => {
    const integrationId = params.id ?? '';
    if (!isUuid(integrationId)) return refused('not_found');
    const updated = await integration.updateIntegration(
      {
        tenant: caller.tenant,
        integrationId,
        descriptorJson: verbatim.descriptor,
        status: body.status === undefined ? IntegrationStatus.UNSPECIFIED : INTEGRATION_STATUSES[body.status],
        pullIntervalSeconds: body.pull_interval_seconds,
      },
      // Sent again, it sets the same fields to the same values.
      { ...options, retryLostReply: true },
    );
    return isRefused(updated) ? updated : presentIntegration(updated.integration);
  },
});
