/**
 * Migrates the webhook service's database: `node services/webhook/src/migrate.ts`. Safe to run at
 * any time, even concurrently.
 */
import { migrate } from '@laurel/postgres/migrate';
import { roleOf } from '@laurel/postgres/roles';
import { databaseUrl, loadConfig } from '@laurel/service';
import { z } from 'zod';

const config = loadConfig(
  z.object({ WEBHOOK_DATABASE_URL: databaseUrl, WEBHOOK_MIGRATION_DATABASE_URL: databaseUrl.optional() }),
);
const applied = await migrate({
  // If only one URL is set, the role that owns the database also runs the service; the service
  // reports that when it starts.
  url: config.WEBHOOK_MIGRATION_DATABASE_URL ?? config.WEBHOOK_DATABASE_URL,
  directory: new URL('../migrations/', import.meta.url),
  grants: { file: new URL('../grants.sql', import.meta.url), runningRole: roleOf(config.WEBHOOK_DATABASE_URL) },
});
console.log(applied.length === 0 ? 'webhook: nothing to migrate' : `webhook: applied ${applied.join(', ')}`);
