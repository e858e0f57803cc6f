/** The wallet service. */
import { type ChannelIdentity, createClient } from '@laurel/grpc';
import { WalletServiceClient } from '@laurel/proto/wallet';

export function connectWallet(address: string, identity: ChannelIdentity | undefined) {
  return createClient(WalletServiceClient, { name: 'wallet', address, identity });
}

/** One method per RPC. */
export type WalletClient = ReturnType<typeof connectWallet>;
