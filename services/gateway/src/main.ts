import { loadConfig, runService } from '@laurel/service';
import { gatewayConfigSchema } from './config.ts';
import { startGateway } from './server.ts';

await runService({ name: 'gateway', loadConfig: () => loadConfig(gatewayConfigSchema), start: startGateway });
