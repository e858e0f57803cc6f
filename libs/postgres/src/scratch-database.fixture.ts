import { randomBytes } from 'node:crypto';
import { ensureDatabase } from '@laurel/local-infrastructure/ensure-database';
import pg from 'pg';

export interface ScratchDatabase extends AsyncDisposable {
  readonly url: string;
}

/**
 * An empty database on the server of the test run, for this package's tests; `@laurel/testing`
 * builds on it.
 */
export async function createScratchDatabase(): Promise<ScratchDatabase> {
  const serverUrl = process.env.LAUREL_TEST_POSTGRES_URL;
  if (serverUrl === undefined) throw new Error('LAUREL_TEST_POSTGRES_URL is not set: the test run has no PostgreSQL');
  const name = `scratch_${randomBytes(8).toString('hex')}`;
  await ensureDatabase(serverUrl, name);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    [Symbol.asyncDispose]: async () => {
      const client = new pg.Client({ connectionString: serverUrl });
      await client.connect();
      await client.query(`drop database if exists ${name} with (force)`);
      await client.end();
    },
  };
}
