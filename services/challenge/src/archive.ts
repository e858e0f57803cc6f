/**
 * The archive of this service: `node services/challenge/src/archive.ts`, which `npm run archive`
 * runs (docs/operations/archive.md). It deletes nothing.
 */
import { runArchive } from '@laurel/attempts/archive';
import { databaseUrl, loadConfig, secretKey } from '@laurel/service';
import { z } from 'zod';
import { archivedMonths } from './archived-months.ts';

await runArchive(archivedMonths, () => {
  const config = loadConfig(z.object({ CHALLENGE_DATABASE_URL: databaseUrl, RECEIPT_SIGNING_SEED: secretKey }));
  return { url: config.CHALLENGE_DATABASE_URL, seed: config.RECEIPT_SIGNING_SEED };
});
