/** Brings the tournament service's database up to date: `node services/tournament/src/migrate.ts`. Safe at any time and by several at once. */
import { migrate } from '@laurel/postgres/migrate';
import { databaseUrl, loadConfig } from '@laurel/service';
import { z } from 'zod';

const { TOURNAMENT_DATABASE_URL: url } = loadConfig(z.object({ TOURNAMENT_DATABASE_URL: databaseUrl }));
const applied = await migrate({ url, directory: new URL('../migrations/', import.meta.url) });
console.log(applied.length === 0 ? 'tournament: nothing to migrate' : `tournament: applied ${applied.join(', ')}`);
