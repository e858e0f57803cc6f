/** Brings the challenge service's database up to date: `node services/challenge/src/migrate.ts`. Safe at any time and by several at once. */
import { migrate } from '@laurel/postgres/migrate';
import { databaseUrl, loadConfig } from '@laurel/service';
import { z } from 'zod';

const { CHALLENGE_DATABASE_URL: url } = loadConfig(z.object({ CHALLENGE_DATABASE_URL: databaseUrl }));
const applied = await migrate({ url, directory: new URL('../migrations/', import.meta.url) });
console.log(applied.length === 0 ? 'challenge: nothing to migrate' : `challenge: applied ${applied.join(', ')}`);
