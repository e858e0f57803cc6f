/**
 * The integration service. Its one hot call goes through `pushes.ts`; the others are single calls.
 */
import { type Channels, createClient } from '@laurel/grpc';
import { IntegrationServiceClient } from '@laurel/proto/integration';

export function connectIntegration(address: string, { identity, inProcess }: Channels) {
  return createClient(IntegrationServiceClient, {
    name: 'integration',
    address,
    identity,
    inProcess,
    hot: ['receivePushes'],
  });
}

/** The client has one method per RPC. */
export type IntegrationClient = ReturnType<typeof connectIntegration>;
