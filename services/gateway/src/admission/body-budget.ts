/**
 * Limits the bytes of bodies that the process holds at one time, over all requests. Bytes beyond
 * the limit are refused (`raw-body.ts`).
 *
 * - Bytes count when they arrive, not when they are announced: a caller that announces a large body
 *   and sends nothing uses up nothing.
 * - One holder (an API key, a developer, an integration or a client address) gets at most its
 *   share, by default a quarter, so that no holder can use up the budget.
 * - The last eighth of the budget is for small bodies, and nearly all bodies are small. So a few
 *   large and slow bodies never stop the small ones.
 */
import { gauge } from '@laurel/telemetry';
import type { BodyBudget } from '../http/raw-body.ts';

/**
 * The default size of a budget. The process has two: one for the bodies of all pushes, one for the
 * bodies of all other requests.
 */
export const DEFAULT_BODY_KIB = 32 * 1024;

export const SHARE_OF_ONE_HOLDER = 1 / 4;
const SHARE_OF_LARGE_BODIES = 7 / 8;
/** A request of the hot path has a few hundred bytes; with 16 KiB of metadata it is still small. */
const SMALL_BYTES = 20 * 1024;

/** The bytes that all budgets of the process hold. */
let bytesInFlight = 0;

/** A caller, or a group of callers, whose bodies count together. */
export interface BudgetHolder {
  readonly name: string;
  /** The part of the whole budget that one holder may use. */
  readonly share: number;
}

/**
 * Makes a budget. A body may count for several holders: `holdersOf` derives them from the name that
 * the caller passes.
 */
export function createBodyBudget(
  maxBytes: number,
  holdersOf: (holder: string) => readonly BudgetHolder[] = (name) => [{ name, share: SHARE_OF_ONE_HOLDER }],
): BodyBudget {
  const maxOfLarge = maxBytes * SHARE_OF_LARGE_BODIES;
  const heldByHolder = new Map<string, number>();
  let held = 0;
  gauge('laurel_body_bytes_in_flight', 'Bytes of request bodies that are held in memory.', [], () => bytesInFlight);

  return {
    take(holder, bytes, size) {
      const holders = holdersOf(holder);
      if (held + bytes > (size > SMALL_BYTES ? maxOfLarge : maxBytes)) return false;
      if (holders.some(({ name, share }) => (heldByHolder.get(name) ?? 0) + bytes > maxBytes * share)) return false;
      for (const { name } of holders) heldByHolder.set(name, (heldByHolder.get(name) ?? 0) + bytes);
      held += bytes;
      bytesInFlight += bytes;
      return true;
    },
    release(holder, bytes) {
      for (const { name } of holdersOf(holder)) {
        const left = (heldByHolder.get(name) ?? 0) - bytes;
        if (left === 0) heldByHolder.delete(name);
        else heldByHolder.set(name, left);
      }
      held -= bytes;
      bytesInFlight -= bytes;
    },
  };
}
