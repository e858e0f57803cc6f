/**
 * Announces programs after the integration or the webhook service could not be reached, or after
 * the database of one lost its last second: it announces the facts of the programs that an operator
 * has changed meanwhile (`repository/program-facts.ts`). Until then, that service continues with
 * the facts that it has.
 */

import type { Database } from '@laurel/postgres';
import type { Logger } from '@laurel/service';
import { newId } from '@laurel/values/ids';
import { millisecondsOf } from '@laurel/values/instant';
import { type ProgramFactServices, tryToAnnounce } from '../clients/program-facts.ts';
import type { ProgramFacts } from '../domain/program.ts';
import { announcePrograms } from '../repository/program-facts.ts';

/**
 * How often changes are announced again. Each repetition makes one call for each program that
 * changed in the last ten minutes, which are many after an import.
 */
const REPEAT_EVERY_MS = 10_000;

export function createAnnouncePrograms({
  database,
  logger,
  ...services
}: ProgramFactServices & { readonly database: Database; readonly logger: Logger }) {
  let repeatedAtMs = Number.NEGATIVE_INFINITY;
  return async function runOnce(now: Date): Promise<void> {
    const nowMs = millisecondsOf(now);
    const repeats = nowMs - repeatedAtMs >= REPEAT_EVERY_MS;
    if (repeats) repeatedAtMs = nowMs;
    // A service that cannot be reached is not called again in this run, and does not keep the other
    // service's facts waiting.
    const unreachable = new Set<keyof ProgramFactServices>();
    const announce = (facts: ProgramFacts) =>
      tryToAnnounce(services, facts, { requestId: newId(), logger, unreachable });
    await announcePrograms(database, announce, { repeats });
  };
}
