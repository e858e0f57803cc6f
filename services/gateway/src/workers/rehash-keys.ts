/**
 * After a change of the pepper (`domain/peppers.ts`), stores each used key again under the current
 * one. The metric `laurel_api_keys` shows the operator how many keys are stored under each version.
 * A key under a pepper that is not configured is not recognised.
 */
import type { Database } from '@laurel/postgres';
import type { Logger } from '@laurel/service';
import { gauge } from '@laurel/telemetry';
import type { Admission } from '../admission/admission.ts';
import type { Peppers } from '../domain/peppers.ts';
import { countKeysByPepper } from '../repository/api-keys.ts';

export function createRehashKeys(options: {
  database: Database;
  admission: Pick<Admission, 'rehashKeys'>;
  peppers: Peppers;
  logger: Logger;
}) {
  const { database, admission, peppers, logger } = options;
  const configured = new Set(peppers.all.map(({ version }) => version));
  const keys = gauge('laurel_api_keys', 'API keys that are not revoked, by the version of the pepper of their hash.', [
    'pepper_version',
  ]);
  let warnedOf = '';

  return async function runOnce(): Promise<void> {
    await admission.rehashKeys();
    const counts = await countKeysByPepper(database);
    keys.reset();
    for (const { version, count } of counts) keys.set({ pepper_version: String(version) }, count);

    const unknown = counts.filter(({ version }) => !configured.has(version));
    const text = JSON.stringify(unknown);
    if (unknown.length > 0 && text !== warnedOf)
      logger.warn({ unknown }, 'API keys lie under a pepper that is not configured');
    warnedOf = text;
  };
}
