/** The wallet service. */
import { createClient } from '@laurel/grpc';
import { WalletServiceClient } from '@laurel/proto/wallet';

export function connectWallet(address: string) {
  return createClient(WalletServiceClient, { name: 'wallet', address });
}

/** One method per RPC. */
export type WalletClient = ReturnType<typeof connectWallet>;
