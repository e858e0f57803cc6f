/** The webhook service. */
import { createClient } from '@laurel/grpc';
import { WebhookServiceClient } from '@laurel/proto/webhook';

export function connectWebhook(address: string) {
  return createClient(WebhookServiceClient, { name: 'webhook', address });
}

/** One method per RPC. */
export type WebhookClient = ReturnType<typeof connectWebhook>;
