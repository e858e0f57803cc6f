/**
 * Migrates the wallet's database: `node services/wallet/src/migrate.ts`. Safe at any time, and
 * concurrently.
 */
import { migrate } from '@laurel/postgres/migrate';
import { roleOf } from '@laurel/postgres/roles';
import { databaseUrl, loadConfig } from '@laurel/service';
import { z } from 'zod';

const config = loadConfig(
  z.object({ WALLET_DATABASE_URL: databaseUrl, WALLET_MIGRATION_DATABASE_URL: databaseUrl.optional() }),
);
const applied = await migrate({
  // If only one URL is set, the role that owns the database also runs the service; the service
  // reports that when it starts.
  url: config.WALLET_MIGRATION_DATABASE_URL ?? config.WALLET_DATABASE_URL,
  directory: new URL('../migrations/', import.meta.url),
  grants: { file: new URL('../grants.sql', import.meta.url), runningRole: roleOf(config.WALLET_DATABASE_URL) },
});
console.log(applied.length === 0 ? 'wallet: nothing to migrate' : `wallet: applied ${applied.join(', ')}`);
