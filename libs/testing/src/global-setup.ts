import { chooseLawSeed } from './law-runs.ts';
import { NATS_URL_VARIABLE, startNats } from './nats.ts';
import { POSTGRES_URL_VARIABLE, startPostgres } from './postgres.ts';

/**
 * Runs once before a vitest run: sets the seed of the run's laws, and starts one PostgreSQL and one
 * NATS server, unless the environment names running servers.
 */
export async function setup(): Promise<() => Promise<void>> {
  chooseLawSeed(process.env);
  await using started = new AsyncDisposableStack();
  const provide = async (variable: string, start: () => Promise<AsyncDisposable & { readonly url: string }>) => {
    if (process.env[variable] !== undefined) return;
    const { url } = started.use(await start());
    process.env[variable] = url;
    started.defer(() => {
      delete process.env[variable];
    });
  };
  await provide(POSTGRES_URL_VARIABLE, startPostgres);
  await provide(NATS_URL_VARIABLE, startNats);
  const servers = started.move();
  return () => servers.disposeAsync();
}
