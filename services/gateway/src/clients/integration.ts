/**
 * The integration service. Its one hot call goes through `pushes.ts`; the others are single calls.
 */
import { type ChannelIdentity, createClient } from '@laurel/grpc';
import { IntegrationServiceClient } from '@laurel/proto/integration';

export function connectIntegration(address: string, identity: ChannelIdentity | undefined) {
  return createClient(IntegrationServiceClient, { name: 'integration', address, identity, hot: ['receivePushes'] });
}

/** One method per RPC. */
export type IntegrationClient = ReturnType<typeof connectIntegration>;
