/**
 * Frees the slots of unconfirmed bars (repository/ramp-slots.ts) that nothing else frees: those of
 * attempts that ended without an outcome and whose slot no later attempt took, and those of
 * attempts that were open when the ramp was completed. A month is not archived while one of its
 * attempts holds a slot.
 *
 * Only attempts are read that have existed for the time to live, because nearly all of them have
 * ended. The next attempts of the challenge take the slots of younger ones.
 */
import type { Database } from '@laurel/postgres';
import { deleteInBatches } from '@laurel/service';
import { leastIdAt } from '@laurel/values/ids';
import { later } from '@laurel/values/instant';
import { freeUnneededSlots } from '../repository/ramp-slots.ts';

export function createFreeSlots({ database, attemptTtlMs }: { database: Database; attemptTtlMs: number }) {
  return async function runOnce(now: Date): Promise<number> {
    const untilId = leastIdAt(later(now, -attemptTtlMs));
    return await deleteInBatches((limit) => freeUnneededSlots(database, untilId, limit));
  };
}
