import { POSTGRES_URL_VARIABLE, startPostgres } from './postgres.ts';

/** Runs once before a vitest run: one PostgreSQL for all of it, unless the environment names one. */
export async function setup(): Promise<(() => Promise<void>) | undefined> {
  if (process.env[POSTGRES_URL_VARIABLE] !== undefined) return undefined;
  const postgres = await startPostgres();
  process.env[POSTGRES_URL_VARIABLE] = postgres.url;
  return async () => {
    delete process.env[POSTGRES_URL_VARIABLE];
    await postgres[Symbol.asyncDispose]();
  };
}
