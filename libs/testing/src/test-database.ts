import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { migrate } from '@laurel/postgres/migrate';
import { roleOf } from '@laurel/postgres/roles';
import { cloneTemplate } from './database-template.ts';
import { POSTGRES_URL_VARIABLE } from './postgres.ts';

export interface TestDatabase extends AsyncDisposable {
  /** The superuser's URL, for a test's own set-up and assertions. */
  readonly url: string;
  /** The running role's URL, with the privileges of the service's grants.sql. */
  readonly runningUrl: string;
  /** The URL of the role that deletes archived months, if the service has one. */
  readonly archiveUrl?: string;
}

/** Creates an empty, migrated database for one test file. */
export async function createTestDatabase({ migrations }: { readonly migrations: URL }): Promise<TestDatabase> {
  const serverUrl = process.env[POSTGRES_URL_VARIABLE];
  if (serverUrl === undefined) throw new Error(`${POSTGRES_URL_VARIABLE} is not set: the test run has no PostgreSQL`);
  const directory = fileURLToPath(migrations);
  const [grants, archiveGrants] = [join(directory, '..', 'grants.sql'), join(directory, '..', 'archive-grants.sql')];
  return cloneTemplate(serverUrl, {
    service: basename(dirname(directory)),
    migrations: directory,
    grants,
    archiveGrants,
    migrate: ({ ownerUrl, runningUrl, archiveUrl }) =>
      migrate({
        url: ownerUrl,
        directory,
        ...(existsSync(grants) && {
          grants: {
            file: grants,
            runningRole: roleOf(runningUrl),
            ...(archiveUrl !== undefined && { archive: { file: archiveGrants, role: roleOf(archiveUrl) } }),
          },
        }),
      }),
  });
}
