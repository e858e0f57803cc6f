/** The wallet service. */
import { type Channels, createClient } from '@laurel/grpc';
import { WalletServiceClient } from '@laurel/proto/wallet';

export function connectWallet(address: string, { identity, inProcess }: Channels) {
  return createClient(WalletServiceClient, { name: 'wallet', address, identity, inProcess });
}

/** The client has one method per RPC. */
export type WalletClient = ReturnType<typeof connectWallet>;
