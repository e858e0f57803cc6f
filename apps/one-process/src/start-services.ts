/**
 * Starts the services of this process one after the other, each after those that it calls, and ends
 * them in reverse: the gateway drains before the services that it calls.
 */
import { createLogger, type Logger, publishVersion, startSharedProcess } from '@laurel/service';
import { publishOldestWaits } from '@laurel/telemetry';
import { asService } from '@laurel/topology/current-service';
import type { ProcessConfig } from './config.ts';

export interface RunningServices extends AsyncDisposable {
  /** Where the gateway answers, or the last service that has a port; 0 where none has one. */
  readonly port: number;
  readonly adminPort: number;
}

/** If a service fails to start, ends those that have started, and rejects with its name. */
export async function startServices(config: ProcessConfig, logger: Logger): Promise<RunningServices> {
  await using started = new AsyncDisposableStack();
  const shared = started.use(
    await startSharedProcess({
      host: config.ADMIN_HOST,
      port: config.ADMIN_PORT,
      services: [...config.services.keys()],
    }),
  );
  let port = 0;
  for (const [name, { logLevel, start }] of config.services) {
    const own = createLogger({ service: name, level: logLevel });
    const service = await asService(name, async () => {
      publishVersion();
      publishOldestWaits();
      return await start(own, shared);
    }).catch((error: unknown) => {
      throw new Error(`${name} could not start`, { cause: error });
    });
    started.defer(() => asService(name, () => service[Symbol.asyncDispose]()));
    port = service.port;
    own.info({ port }, 'started');
  }
  logger.info({ services: [...config.services.keys()] }, 'all services have started');

  const running = started.move();
  return { port, adminPort: shared.adminPort, [Symbol.asyncDispose]: () => running.disposeAsync() };
}
