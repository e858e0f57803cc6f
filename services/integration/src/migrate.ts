/**
 * Migrates the integration service's database: `node services/integration/src/migrate.ts`. Safe to
 * run at any time, even concurrently.
 */
import { migrate } from '@laurel/postgres/migrate';
import { roleOf } from '@laurel/postgres/roles';
import { databaseUrl, loadConfig } from '@laurel/service';
import { z } from 'zod';

const config = loadConfig(
  z.object({ INTEGRATION_DATABASE_URL: databaseUrl, INTEGRATION_MIGRATION_DATABASE_URL: databaseUrl.optional() }),
);
const applied = await migrate({
  // If only one URL is set, the role that owns the database also runs the service; the service
  // reports that when it starts.
  url: config.INTEGRATION_MIGRATION_DATABASE_URL ?? config.INTEGRATION_DATABASE_URL,
  directory: new URL('../migrations/', import.meta.url),
  grants: { file: new URL('../grants.sql', import.meta.url), runningRole: roleOf(config.INTEGRATION_DATABASE_URL) },
});
console.log(applied.length === 0 ? 'integration: nothing to migrate' : `integration: applied ${applied.join(', ')}`);
