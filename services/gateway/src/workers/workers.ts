/** The gateway's workers, and how often each runs. */
import type { Foundation, Worker } from '@laurel/service';
import type { Admission } from '../admission/admission.ts';
import type { ProgramFactServices } from '../clients/program-facts.ts';
import type { Peppers } from '../domain/peppers.ts';
import { recordKeyUse } from '../repository/admissions.ts';
import { createAnnouncePrograms } from './announce-programs.ts';
import { createDeleteExpiredSessions } from './delete-expired-sessions.ts';
import { createIdempotencyRecordCleanup } from './delete-old-records.ts';
import { createDeleteOldWindows } from './delete-old-windows.ts';
import { createKeepRequestLog } from './keep-request-log.ts';
import { createRehashKeys } from './rehash-keys.ts';

/**
 * How often old rows are deleted. A table stays near the size of one day, and each deletion costs
 * next to nothing.
 */
const RETENTION_INTERVAL_MS = 60_000;
/** Finding old windows scans the whole table: no index covers their age. */
const WINDOWS_INTERVAL_MS = 600_000;
/** `last_used_at` is for people: half a minute late is fine. */
const KEY_USE_INTERVAL_MS = 30_000;
/** Partitions are made two days ahead. */
const REQUEST_LOG_INTERVAL_MS = 600_000;
/**
 * How long the integration and the webhook service may continue with outdated facts of a program
 * after they become reachable again.
 */
const ANNOUNCE_INTERVAL_MS = 5_000;

export function gatewayWorkers({
  database,
  logger,
  admission,
  peppers,
  integration,
  webhook,
  signInWindowMs,
}: Pick<Foundation, 'database' | 'logger'> &
  ProgramFactServices & {
    readonly admission: Admission;
    readonly peppers: Peppers;
    readonly signInWindowMs: number;
  }): readonly Worker[] {
  return [
    {
      name: 'delete-old-idempotency-records',
      intervalMs: RETENTION_INTERVAL_MS,
      runOnce: createIdempotencyRecordCleanup(database),
    },
    {
      name: 'delete-expired-sessions',
      intervalMs: RETENTION_INTERVAL_MS,
      runOnce: createDeleteExpiredSessions(database, signInWindowMs),
    },
    { name: 'delete-old-rate-windows', intervalMs: WINDOWS_INTERVAL_MS, runOnce: createDeleteOldWindows(database) },
    { name: 'keep-request-log', intervalMs: REQUEST_LOG_INTERVAL_MS, runOnce: createKeepRequestLog(database) },
    { name: 'record-key-use', intervalMs: KEY_USE_INTERVAL_MS, runOnce: () => recordKeyUse(database) },
    {
      name: 'rehash-keys',
      intervalMs: KEY_USE_INTERVAL_MS,
      runOnce: createRehashKeys({ database, admission, peppers, logger }),
    },
    {
      name: 'announce-programs',
      intervalMs: ANNOUNCE_INTERVAL_MS,
      runOnce: createAnnouncePrograms({ database, integration, webhook, logger }),
    },
  ];
}
