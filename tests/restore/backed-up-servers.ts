import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stopOrphanedPostgres } from '@laurel/local-infrastructure/embedded-postgres';
import { removeLeftovers, SERVICES, type Service } from '@laurel/testing';
import { byService } from '@laurel/topology';
import { type BackedUpServer, dataDirectoryOf, startBackedUpServer } from './backed-up-server.ts';

const DIRECTORY_PREFIX = 'laurel-restore-';

/** One server for each service's database, as in production. */
export interface BackedUpServers extends AsyncDisposable {
  readonly urls: Readonly<Record<Service, string>>;
  /** Runs `work` with all servers at the same time. */
  each<T>(work: (server: BackedUpServer, service: Service) => Promise<T>): Promise<T[]>;
}

/**
 * Starts the servers in a folder that is removed with them. If one does not start, the others are
 * stopped.
 */
export async function startBackedUpServers(): Promise<BackedUpServers> {
  await removeLeftovers(DIRECTORY_PREFIX, async (directory) => {
    for (const service of SERVICES) await stopOrphanedPostgres(dataDirectoryOf(join(directory, service)));
  });
  await using cleanup = new AsyncDisposableStack();
  const directory = mkdtempSync(join(tmpdir(), `${DIRECTORY_PREFIX}${process.pid}-`));
  cleanup.defer(() => rm(directory, { recursive: true, force: true }));

  const servers = new Map<Service, BackedUpServer>();
  const starts = SERVICES.map(async (service) => {
    servers.set(service, cleanup.use(await startBackedUpServer(join(directory, service))));
  });
  // Waits for every start: after a failed one, no other server may still be starting.
  await Promise.allSettled(starts);
  await Promise.all(starts);

  const serverOf = (service: Service): BackedUpServer => {
    const server = servers.get(service);
    if (server === undefined) throw new Error(`no server of ${service}`);
    return server;
  };
  const owned = cleanup.move();
  return {
    urls: byService((service) => serverOf(service).url),
    each: (work) => Promise.all(SERVICES.map((service) => work(serverOf(service), service))),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
