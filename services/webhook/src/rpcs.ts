/** The handlers of the webhook service's rpcs, and what they need. */
import type { UrlCheck } from '@laurel/egress';
import type { Encryption } from '@laurel/encryption';
import { implement, type ServiceImplementation } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import { WebhookServiceService } from '@laurel/proto/webhook';
import type { Clock, Logger } from '@laurel/service';
import { CALLERS } from './callers.ts';
import { createEndpoint } from './handlers/create-endpoint.ts';
import { deleteEndpoint } from './handlers/delete-endpoint.ts';
import { getDelivery } from './handlers/get-delivery.ts';
import { getEndpoint } from './handlers/get-endpoint.ts';
import { getEndpointStats } from './handlers/get-endpoint-stats.ts';
import { listDeliveries } from './handlers/list-deliveries.ts';
import { listDeliveriesOfEvents } from './handlers/list-deliveries-of-events.ts';
import { listEndpoints } from './handlers/list-endpoints.ts';
import { listSandboxEvents } from './handlers/list-sandbox-events.ts';
import { lookUpId } from './handlers/look-up-id.ts';
import { putProgram } from './handlers/put-program.ts';
import { resendDelivery } from './handlers/resend-delivery.ts';
import { resendFailedDeliveries } from './handlers/resend-failed-deliveries.ts';
import { retryDelivery } from './handlers/retry-delivery.ts';
import { rotateSecret } from './handlers/rotate-secret.ts';
import { sendTest } from './handlers/send-test.ts';
import { summarizeDeliveries } from './handlers/summarize-deliveries.ts';
import { updateEndpoint } from './handlers/update-endpoint.ts';
import type { Dispatcher } from './workers/deliver.ts';

export function webhookRpcs(deps: {
  readonly database: Database;
  readonly encryption: Encryption;
  readonly checkUrl: UrlCheck;
  readonly dispatcher: Dispatcher;
  readonly clock: Clock;
  readonly logger: Logger;
}): ServiceImplementation {
  return implement(
    WebhookServiceService,
    {
      putProgram: putProgram(deps),
      createEndpoint: createEndpoint(deps),
      listEndpoints: listEndpoints(deps),
      getEndpoint: getEndpoint(deps),
      updateEndpoint: updateEndpoint(deps),
      deleteEndpoint: deleteEndpoint(deps),
      rotateSecret: rotateSecret(deps),
      sendTest: sendTest(deps),
      listDeliveries: listDeliveries(deps),
      getDelivery: getDelivery(deps),
      listDeliveriesOfEvents: listDeliveriesOfEvents(deps),
      lookUpId: lookUpId(deps),
      resendDelivery: resendDelivery(deps),
      resendFailedDeliveries: resendFailedDeliveries(deps),
      getEndpointStats: getEndpointStats(deps),
      summarizeDeliveries: summarizeDeliveries(deps),
      retryDelivery: retryDelivery(deps),
      listSandboxEvents: listSandboxEvents(deps),
    },
    { logger: deps.logger, callers: CALLERS },
  );
}
