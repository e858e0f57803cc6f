/** Brings the wallet's database up to date: `node services/wallet/src/migrate.ts`. Safe to run at any time and by several at once. */
import { migrate } from '@laurel/postgres/migrate';
import { databaseUrl, loadConfig } from '@laurel/service';
import { z } from 'zod';

const { WALLET_DATABASE_URL: url } = loadConfig(z.object({ WALLET_DATABASE_URL: databaseUrl }));
const applied = await migrate({ url, directory: new URL('../migrations/', import.meta.url) });
console.log(applied.length === 0 ? 'wallet: nothing to migrate' : `wallet: applied ${applied.join(', ')}`);
