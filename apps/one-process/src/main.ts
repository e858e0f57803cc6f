/** Runs the services that LAUREL_SERVICES names, or all of them, in this process. */
import { runService } from '@laurel/service';
import { loadProcessConfig } from './config.ts';
import { startServices } from './start-services.ts';

await runService({ name: 'one-process', loadConfig: () => loadProcessConfig(process.env), start: startServices });
