/**
 * How many bytes of bodies the process holds at the same time, over all requests: what arrives beyond it is refused (`raw-body.ts`).
 *
 * - Bytes count as they arrive, not as they are announced: a caller that announces much and sends nothing uses up nothing.
 * - One owner (a key, a developer, a client address before it signed in) has a quarter at the most, so that no owner can use up the budget.
 * - The last eighth is for small bodies: a few large and slow bodies never stop the small ones, which are nearly all.
 */
import { gauge } from '@laurel/telemetry';
import type { BodyBudget } from '../http/raw-body.ts';

const SHARE_OF_AN_OWNER = 1 / 4;
const SHARE_OF_LARGE_BODIES = 7 / 8;
/** A request of the hot path has some hundred bytes; with 16 KiB of metadata it is still small. */
const SMALL_BYTES = 20 * 1024;

let bytesInFlight = 0;
gauge('laurel_body_bytes_in_flight', 'Bytes of request bodies that are held in memory.', [], () => bytesInFlight);

export function createBodyBudget(maxBytes: number): BodyBudget {
  const maxOfOwner = maxBytes * SHARE_OF_AN_OWNER;
  const maxOfLarge = maxBytes * SHARE_OF_LARGE_BODIES;
  const heldByOwner = new Map<string, number>();
  let held = 0;

  return {
    take(owner, bytes, size) {
      const ofOwner = (heldByOwner.get(owner) ?? 0) + bytes;
      if (ofOwner > maxOfOwner || held + bytes > (size > SMALL_BYTES ? maxOfLarge : maxBytes)) return false;
      heldByOwner.set(owner, ofOwner);
      held += bytes;
      bytesInFlight += bytes;
      return true;
    },
    release(owner, bytes) {
      const left = (heldByOwner.get(owner) ?? 0) - bytes;
      if (left === 0) heldByOwner.delete(owner);
      else heldByOwner.set(owner, left);
      held -= bytes;
      bytesInFlight -= bytes;
    },
  };
}
