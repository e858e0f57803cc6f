import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { startEmbeddedPostgres, stopOrphanedPostgres } from '@laurel/local-infrastructure/embedded-postgres';
import { removeLeftovers } from './leftovers.ts';
import { memoryFolder } from './memory-folder.ts';

/**
 * Names the superuser's URL of this test run's server. Every process of the run inherits the
 * variable.
 */
export const POSTGRES_URL_VARIABLE = 'LAUREL_TEST_POSTGRES_URL';

const DIRECTORY_PREFIX = 'laurel-test-postgres-';

const SETTINGS = {
  max_connections: '300',
  // Fast but unsafe: no data of a test run needs to survive a power cut.
  fsync: 'off',
  full_page_writes: 'off',
};

/** Starts one server for a whole test run. Disposing stops the server and removes its folder. */
export async function startPostgres(): Promise<AsyncDisposable & { readonly url: string }> {
  const parent = memoryFolder();
  await removeLeftovers(DIRECTORY_PREFIX, stopOrphanedPostgres, parent);
  const directory = await mkdtemp(join(parent, `${DIRECTORY_PREFIX}${process.pid}-`));
  const server = await startEmbeddedPostgres({
    dataDirectory: directory,
    settings: SETTINGS,
    logFile: join(directory, 'log'),
  });
  return {
    url: server.superuserUrl,
    [Symbol.asyncDispose]: async () => {
      await server.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
