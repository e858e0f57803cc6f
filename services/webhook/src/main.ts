import { loadConfig, runService } from '@laurel/service';
import { webhookConfigSchema } from './config.ts';
import { startWebhook } from './server.ts';

await runService({ name: 'webhook', loadConfig: () => loadConfig(webhookConfigSchema), start: startWebhook });
