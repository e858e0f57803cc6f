import { loadConfig, runService } from '@laurel/service';
import { tournamentConfigSchema } from './config.ts';
import { startTournament } from './server.ts';

await runService({ name: 'tournament', loadConfig: () => loadConfig(tournamentConfigSchema), start: startTournament });
