/**
 * The archive of this service: `node services/wallet/src/archive.ts`, which `npm run archive` runs
 * (docs/operations/archive.md). It deletes nothing.
 */
import { runArchive } from '@laurel/attempts/archive';
import { databaseUrl, loadConfig, secretKey } from '@laurel/service';
import { z } from 'zod';
import { archivedMonths } from './archived-months.ts';

await runArchive(archivedMonths, {
  load: () => {
    const config = loadConfig(z.object({ WALLET_DATABASE_URL: databaseUrl, RECEIPT_SIGNING_SEED: secretKey }));
    return { url: config.WALLET_DATABASE_URL, seed: config.RECEIPT_SIGNING_SEED };
  },
  needsKeys: true,
});
