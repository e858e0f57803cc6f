/** Brings the webhook service's database up to date: `node services/webhook/src/migrate.ts`. Safe at any time and by several at once. */
import { migrate } from '@laurel/postgres/migrate';
import { databaseUrl, loadConfig } from '@laurel/service';
import { z } from 'zod';

const { WEBHOOK_DATABASE_URL: url } = loadConfig(z.object({ WEBHOOK_DATABASE_URL: databaseUrl }));
const applied = await migrate({ url, directory: new URL('../migrations/', import.meta.url) });
console.log(applied.length === 0 ? 'webhook: nothing to migrate' : `webhook: applied ${applied.join(', ')}`);
