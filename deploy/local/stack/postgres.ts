import { createHmac } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  type EmbeddedPostgres,
  EmbeddedPostgresError,
  startEmbeddedPostgres,
} from '@laurel/local-infrastructure/embedded-postgres';
import { type DatabaseRoles, prepareDatabase } from '@laurel/postgres/roles';
import { rotateLog } from './logs.ts';
import { StartFailure } from './start-failure.ts';
import { restartDelayMs } from './supervisor.ts';

/** The PostgreSQL server of a stack. It is restarted on the same port when it dies. */
export interface StackPostgres extends AsyncDisposable {
  /**
   * Returns the service's database and its two roles, which are created if missing. A database of
   * an older release is converted.
   */
  databaseOf(service: string): Promise<DatabaseRoles>;
}

/**
 * Tuned for two cores that the services share. fsync stays on, as for every database with money.
 */
const SETTINGS = {
  shared_buffers: '256MB',
  max_connections: '200',
  // Checkpoints are rare and spread out: the first change of a page after each one logs the whole
  // page.
  max_wal_size: '2GB',
  checkpoint_timeout: '15min',
  // Every statement here takes microseconds, and compiling one takes milliseconds.
  jit: 'off',
  // The rows of rate limits and attempts change all the time.
  autovacuum_naptime: '15s',
} as const;

export async function startPostgres(options: {
  dataDir: string;
  port: number;
  logFile: string;
  /** The passwords of the roles are derived from this seed. */
  passwordSeed: string;
  print: (line: string) => void;
}): Promise<StackPostgres> {
  rotateLog(options.logFile);
  const start = () =>
    startEmbeddedPostgres({
      dataDirectory: join(options.dataDir, 'postgres'),
      port: options.port,
      logFile: options.logFile,
      settings: SETTINGS,
    });
  let server: EmbeddedPostgres = await start().catch(toStartFailure);
  const stopping = new AbortController();

  const watch = async (): Promise<void> => {
    let deaths = 0;
    for (;;) {
      const startedAt = Date.now();
      await server.exited;
      while (!stopping.signal.aborted) {
        deaths = Date.now() - startedAt > 30_000 ? 1 : deaths + 1;
        const pause = restartDelayMs(deaths);
        options.print(`postgres ended by itself; starting it again in ${pause / 1000} s. Its log: ${options.logFile}`);
        await delay(pause, undefined, { signal: stopping.signal }).catch(() => undefined);
        if (stopping.signal.aborted) return;
        try {
          server = await start();
          options.print(`postgres is ready again (pid ${server.pid}).`);
          break;
        } catch (error) {
          options.print(`postgres did not start: ${error instanceof Error ? error.message : String(error)}`);
        }
      }
      if (stopping.signal.aborted) return;
    }
  };
  const watching = watch();

  return {
    async databaseOf(service) {
      const urlOf = (role: string) => {
        const url = new URL(server.url(service));
        url.username = role;
        url.password = createHmac('sha256', options.passwordSeed).update(role).digest('base64url');
        return url.href;
      };
      const roles = { ownerUrl: urlOf(`laurel_${service}_owner`), runningUrl: urlOf(`laurel_${service}`) };
      await prepareDatabase(server.superuserUrl, roles);
      return roles;
    },
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await server.stop();
      await watching;
      // The watcher may have been restarting the server during the first stop.
      await server.stop();
    },
  };
}

function toStartFailure(error: unknown): never {
  if (error instanceof EmbeddedPostgresError)
    throw new StartFailure(`The embedded PostgreSQL cannot start: ${error.message}.`);
  throw error;
}
