import { loadConfig, runService } from '@laurel/service';
import { integrationConfigSchema } from './config.ts';
import { startIntegration } from './server.ts';

await runService({
  name: 'integration',
  loadConfig: () => loadConfig(integrationConfigSchema),
  start: startIntegration,
});
