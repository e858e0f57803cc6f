import { isRefused, refused } from '@laurel/errors';
import { INTEGRATION_STATUSES } from '@laurel/proto/enum-names';
import { IntegrationStatus } from '@laurel/proto/integration';
import { isUuid } from '@laurel/values/ids';
import { MAX_DESCRIPTOR_BYTES } from '@laurel/values/limits';
import type { IntegrationClient } from '../../clients/integration.ts';
import { presentIntegration } from '../../presenters/integration.ts';
import { integrationSchema, updateIntegrationBody } from './integration-schemas.ts';
import { defineTenantRoute } from './route.ts';

export const updateIntegration = defineTenantRoute({
  method: 'patch',
  path: '/integrations/{id}',
  name: 'updateIntegration',
  summary: 'Change an integration',
  description:
    'Changes only the members that are sent. A new descriptor replaces the whole old one. The route takes no `Idempotency-Key`.',
  body: updateIntegrationBody,
  verbatim: { descriptor: MAX_DESCRIPTOR_BYTES },
  success: { status: 200, description: 'As it is now.', schema: integrationSchema },
  refusals: {
    invalid_request:
      'The status is unknown; the descriptor or the interval breaks its rules; the URL to poll is unsafe; a `push_webhook` without a signing secret, or a `pull_poll` without a URL, would become `active`.',
    not_found: 'There is no such integration, or it belongs to another program.',
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
      // A repeated request sets the same fields to the same values.
      { ...options, retryLostReply: true },
    );
    return isRefused(updated) ? updated : presentIntegration(updated.integration);
  },
});
