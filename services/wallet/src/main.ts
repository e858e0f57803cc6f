import { loadConfig, runService } from '@laurel/service';
import { walletConfigSchema } from './config.ts';
import { startWallet } from './server.ts';

await runService({ name: 'wallet', loadConfig: () => loadConfig(walletConfigSchema), start: startWallet });
