/**
 * What the services of one process share: the calls between them, and one admin port. The process
 * is ready once all of them have started and each is ready. It is no longer ready as soon as one of
 * them drains.
 */
import { createInProcessChannels, type InProcessChannel } from '@laurel/grpc';
import type { ServiceName } from '@laurel/topology';
import { type AdminServer, type Readiness, startAdminServer } from './admin-server.ts';

/** The readiness of one service, as startAdminServer takes it. */
export type ServiceReadiness = Pick<Parameters<typeof startAdminServer>[0], 'isReady' | 'dependencies' | 'isServing'>;

export interface SharedProcess extends AsyncDisposable {
  readonly adminPort: number;
  channelOf(service: ServiceName): InProcessChannel;
  /** Adds a service that has started to the admin port, until it ends. */
  add(service: ServiceName, readiness: ServiceReadiness): Disposable;
}

/** Opens the admin port; the process is not ready before each of `services` has been added. */
export async function startSharedProcess(options: {
  readonly host: string;
  readonly port: number;
  readonly services: readonly ServiceName[];
}): Promise<SharedProcess> {
  const started = new Map<ServiceName, ServiceReadiness>();

  const missingOf = async (look: (readiness: ServiceReadiness) => Promise<Readiness> | Readiness | undefined) => {
    const missing = await Promise.all(
      options.services.map(async (service) => {
        const readiness = started.get(service);
        if (readiness === undefined) return [service];
        const found = (await look(readiness)) ?? true;
        if (typeof found === 'boolean') return found ? [] : [service];
        return found.missing.map((what) => `${service}: ${what}`);
      }),
    );
    return { missing: missing.flat() };
  };
  const admin: AdminServer = await startAdminServer({
    host: options.host,
    port: options.port,
    isServing: () => [...started.values()].every(({ isServing }) => isServing?.() ?? true),
    isReady: () => missingOf(({ isReady }) => isReady()),
    dependencies: () => missingOf(({ dependencies }) => dependencies?.()),
  });

  return {
    adminPort: admin.port,
    channelOf: createInProcessChannels(),
    add(service, readiness) {
      started.set(service, readiness);
      return { [Symbol.dispose]: () => void started.delete(service) };
    },
    [Symbol.asyncDispose]: () => admin[Symbol.asyncDispose](),
  };
}
