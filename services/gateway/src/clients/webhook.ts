/** The webhook service. */
import { type ChannelIdentity, createClient } from '@laurel/grpc';
import { WebhookServiceClient } from '@laurel/proto/webhook';

export function connectWebhook(address: string, identity: ChannelIdentity | undefined) {
  return createClient(WebhookServiceClient, { name: 'webhook', address, identity });
}

/** One method per RPC. */
export type WebhookClient = ReturnType<typeof connectWebhook>;
