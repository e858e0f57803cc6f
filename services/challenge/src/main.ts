import { loadConfig, runService } from '@laurel/service';
import { challengeConfigSchema } from './config.ts';
import { startChallenge } from './server.ts';

await runService({ name: 'challenge', loadConfig: () => loadConfig(challengeConfigSchema), start: startChallenge });
