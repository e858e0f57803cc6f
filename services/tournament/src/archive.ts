/**
 * The archive of this service: `node services/tournament/src/archive.ts`, which `npm run archive`
 * runs (docs/operations/archive.md). A run that deletes a month connects as the archive's role;
 * every other run connects as the service's role.
 */
import { monthDeletionOf, runArchive } from '@laurel/attempts/archive';
import { databaseUrl, loadConfig, secretKey } from '@laurel/service';
import { z } from 'zod';
import { archivedMonths } from './archived-months.ts';

await runArchive(archivedMonths, {
  load: () => {
    const config = loadConfig(z.object({ TOURNAMENT_DATABASE_URL: databaseUrl, RECEIPT_SIGNING_SEED: secretKey }));
    return { url: config.TOURNAMENT_DATABASE_URL, seed: config.RECEIPT_SIGNING_SEED };
  },
  deletion: {
    source: archivedMonths,
    steps: monthDeletionOf('tournament'),
    loadUrl: () =>
      loadConfig(z.object({ TOURNAMENT_ARCHIVE_DATABASE_URL: databaseUrl })).TOURNAMENT_ARCHIVE_DATABASE_URL,
  },
});
