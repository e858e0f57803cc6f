/** Brings the gateway's database up to date: `node services/gateway/src/migrate.ts`. */
import { migrate } from '@laurel/postgres/migrate';
import { databaseUrl, loadConfig } from '@laurel/service';
import { z } from 'zod';

const config = loadConfig(z.object({ GATEWAY_DATABASE_URL: databaseUrl }));
const applied = await migrate({
  url: config.GATEWAY_DATABASE_URL,
  directory: new URL('../migrations/', import.meta.url),
});
for (const name of applied) process.stdout.write(`gateway: ${name}\n`);
