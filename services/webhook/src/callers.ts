/** Which service may call which rpc of the webhook service: the gateway may call each. */
import type { AcceptedCallers } from '@laurel/grpc';
import type { WebhookServiceService } from '@laurel/proto/webhook';

const GATEWAY = ['gateway'] as const;

export const CALLERS: AcceptedCallers<WebhookServiceService> = {
  putProgram: GATEWAY,
  createEndpoint: GATEWAY,
  listEndpoints: GATEWAY,
  getEndpoint: GATEWAY,
  updateEndpoint: GATEWAY,
  deleteEndpoint: GATEWAY,
  rotateSecret: GATEWAY,
  sendTest: GATEWAY,
  listDeliveries: GATEWAY,
  getDelivery: GATEWAY,
  listDeliveriesOfEvents: GATEWAY,
  lookUpId: GATEWAY,
  resendDelivery: GATEWAY,
  resendFailedDeliveries: GATEWAY,
  getEndpointStats: GATEWAY,
  summarizeDeliveries: GATEWAY,
  retryDelivery: GATEWAY,
  listSandboxEvents: GATEWAY,
};
