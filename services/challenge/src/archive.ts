/**
 * The archive of this service: `node services/challenge/src/archive.ts`, which `npm run archive`
 * runs (docs/operations/archive.md). A run that deletes a month connects as the archive's role;
 * every other run connects as the service's role.
 */
import { monthDeletionOf, runArchive } from '@laurel/attempts/archive';
import { databaseUrl, loadConfig, secretKey } from '@laurel/service';
import { z } from 'zod';
import { archivedMonths } from './archived-months.ts';

await runArchive(archivedMonths, {
  load: () => {
    const config = loadConfig(z.object({ CHALLENGE_DATABASE_URL: databaseUrl, RECEIPT_SIGNING_SEED: secretKey }));
    return { url: config.CHALLENGE_DATABASE_URL, seed: config.RECEIPT_SIGNING_SEED };
  },
  deletion: {
    source: archivedMonths,
    steps: monthDeletionOf('challenge'),
    loadUrl: () => loadConfig(z.object({ CHALLENGE_ARCHIVE_DATABASE_URL: databaseUrl })).CHALLENGE_ARCHIVE_DATABASE_URL,
  },
});
