/** The program that wallet-host.ts starts. Its process ends with the parent process. */
import { createLogger } from '@laurel/service';
import type { WalletOrder, WalletReport } from './wallet-host.ts';

const WALLET = new URL('../../../services/wallet/src/', import.meta.url);
// Imports the wallet by its files, because no library may depend on a service.
const { walletConfigSchema } = await import(new URL('config.ts', WALLET).href);
const { startWallet } = await import(new URL('server.ts', WALLET).href);

let wallet: AsyncDisposable | undefined;

async function obey(what: WalletOrder): Promise<void> {
  await wallet?.[Symbol.asyncDispose]();
  wallet = undefined;
  if (what === 'stop') return;
  const logger = createLogger({ service: 'wallet', level: 'silent' });
  wallet = await startWallet(walletConfigSchema.parse(what.start), logger);
}

process.on('message', (what: WalletOrder) => {
  const report = (failure: string | null) => process.send?.({ failure } satisfies WalletReport);
  obey(what).then(
    () => report(null),
    (error: unknown) => report(error instanceof Error ? (error.stack ?? error.message) : String(error)),
  );
});
process.on('disconnect', () => process.exit(0));
