/** The webhook service. */
import { type Channels, createClient } from '@laurel/grpc';
import { WebhookServiceClient } from '@laurel/proto/webhook';

export function connectWebhook(address: string, { identity, inProcess }: Channels) {
  return createClient(WebhookServiceClient, { name: 'webhook', address, identity, inProcess });
}

/** The client has one method per RPC. */
export type WebhookClient = ReturnType<typeof connectWebhook>;
