import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  type EmbeddedPostgres,
  EmbeddedPostgresError,
  ensureDatabase,
  startEmbeddedPostgres,
} from '@laurel/postgres/embedded';
import { StartFailure } from './start-failure.ts';
import { restartDelayMs, rotateLog } from './supervisor.ts';

/** The PostgreSQL of a stack; it is started again when it dies, on its port. */
export interface StackPostgres extends AsyncDisposable {
  /** Creates the database unless it is there, and answers its URL. */
  database(name: string): Promise<string>;
}

/** For two cores that the services share; fsync stays on, as everywhere that money is kept. */
const SETTINGS = {
  shared_buffers: '256MB',
  max_connections: '200',
  // Checkpoints are rare and spread out: each makes the next change of every page log the page as a whole.
  max_wal_size: '2GB',
  checkpoint_timeout: '15min',
  // Every statement here takes microseconds; compiling one takes milliseconds.
  jit: 'off',
  // The windows of the rate limit and the attempts change all the time.
  autovacuum_naptime: '15s',
} as const;

export async function startPostgres(options: {
  dataDir: string;
  port: number;
  logFile: string;
  say: (line: string) => void;
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
        options.say(`postgres ended by itself; starting it again in ${pause / 1000} s. Its log: ${options.logFile}`);
        await delay(pause, undefined, { signal: stopping.signal }).catch(() => undefined);
        if (stopping.signal.aborted) return;
        try {
          server = await start();
          options.say(`postgres is ready again (pid ${server.pid}).`);
          break;
        } catch (error) {
          options.say(`postgres did not start: ${error instanceof Error ? error.message : String(error)}`);
        }
      }
      if (stopping.signal.aborted) return;
    }
  };
  const watching = watch();

  return {
    async database(name) {
      await ensureDatabase(server.superuserUrl, name);
      return server.url(name);
    },
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await server.stop();
      await watching;
      // It may have been coming up again just then.
      await server.stop();
    },
  };
}

function toStartFailure(error: unknown): never {
  if (error instanceof EmbeddedPostgresError)
    throw new StartFailure(`The embedded PostgreSQL cannot start: ${error.message}.`);
  throw error;
}
