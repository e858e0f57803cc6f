/** Maps integrations to messages, which never contain a secret. */
import { INTEGRATION_STATUSES, TRANSPORTS } from '@laurel/proto/enum-names';
import type { Integration as IntegrationMessage } from '@laurel/proto/integration';
import type { Integration } from '../domain/integration.ts';

export function presentIntegration(integration: Integration): IntegrationMessage {
  return {
    id: integration.id,
    transport: TRANSPORTS[integration.transport],
    status: INTEGRATION_STATUSES[integration.status],
    descriptorJson: integration.descriptor,
    hasSigningSecret: integration.hasSigningSecret,
    pullIntervalSeconds: integration.pullIntervalSeconds ?? undefined,
    lastPolledAt: integration.lastPolledAt ?? undefined,
    nextPollAt: integration.nextPollAt ?? undefined,
    consecutiveFailures: integration.consecutiveFailures,
    lastPollError: integration.lastPollError ?? undefined,
    createdAt: integration.createdAt,
  };
}
