/**
 * Starts the services of this process one after the other, each after those that it calls. To end
 * them, each ends as soon as its callers in this process have ended: the gateway first, the wallet
 * last.
 */
import { createLogger, type Logger, publishVersion, startSharedProcess } from '@laurel/service';
import { publishOldestWaits } from '@laurel/telemetry';
import { SERVICE_NAMES, SERVICES, type ServiceName } from '@laurel/topology';
import { asService } from '@laurel/topology/current-service';
import type { ProcessConfig } from './config.ts';

export interface RunningServices extends AsyncDisposable {
  /** The gateway's port, or else that of the last service with a port; 0 if no service has one. */
  readonly port: number;
  readonly adminPort: number;
}

/**
 * Starts the services. If one fails to start, ends those that have started, and rejects with its
 * name.
 */
export async function startServices(config: ProcessConfig, logger: Logger): Promise<RunningServices> {
  await using started = new AsyncDisposableStack();
  const shared = started.use(
    await startSharedProcess({
      host: config.ADMIN_HOST,
      port: config.ADMIN_PORT,
      services: [...config.services.keys()],
    }),
  );
  const running = started.adopt(new Map<ServiceName, AsyncDisposable>(), endServices);
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
    running.set(name, {
      async [Symbol.asyncDispose]() {
        await service[Symbol.asyncDispose]();
        own.info('stopped');
      },
    });
    port = service.port;
    own.info({ port }, 'started');
  }
  logger.info({ services: [...config.services.keys()] }, 'all services have started');

  const whole = started.move();
  return { port, adminPort: shared.adminPort, [Symbol.asyncDispose]: () => whole.disposeAsync() };
}

/** Ends all services, even if one fails to end, and then throws the first failure. */
async function endServices(running: ReadonlyMap<ServiceName, AsyncDisposable>): Promise<void> {
  const endings = new Map<ServiceName, Promise<void>>();
  const end = async (name: ServiceName): Promise<void> => {
    const callers = SERVICE_NAMES.filter((caller) => SERVICES[caller].calls.some((called) => called === name));
    await Promise.allSettled(callers.map((caller) => endings.get(caller)));
    await asService(name, async () => await running.get(name)?.[Symbol.asyncDispose]());
  };
  // In reverse order callers come before the services that they call, so the ends of a service's
  // callers are already known.
  for (const name of [...running.keys()].reverse()) endings.set(name, end(name));
  await Promise.allSettled(endings.values());
  await Promise.all(endings.values());
}
