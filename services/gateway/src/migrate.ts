/** Brings the gateway's database up to date: `node services/gateway/src/migrate.ts`. */
import { migrate } from '@laurel/postgres/migrate';
import { roleOf } from '@laurel/postgres/roles';
import { databaseUrl, loadConfig } from '@laurel/service';
import { z } from 'zod';

const config = loadConfig(
  z.object({ GATEWAY_DATABASE_URL: databaseUrl, GATEWAY_MIGRATION_DATABASE_URL: databaseUrl.optional() }),
);
const applied = await migrate({
  // If only one URL is set, the role that owns the database also runs the service; the service
  // reports that when it starts.
  url: config.GATEWAY_MIGRATION_DATABASE_URL ?? config.GATEWAY_DATABASE_URL,
  directory: new URL('../migrations/', import.meta.url),
  grants: { file: new URL('../grants.sql', import.meta.url), runningRole: roleOf(config.GATEWAY_DATABASE_URL) },
});
for (const name of applied) process.stdout.write(`gateway: ${name}\n`);
