/**
 * When a delivery is sent (docs/contract/partner-api.md, "Delivery behaviour"): three times at
 * most. The first send is due immediately, the second 1 minute after the first fails, the third 5
 * minutes after the second fails. The receiver's response cannot change this: there is no jitter,
 * no Retry-After, and no failure status that ends the retries early.
 */
import { later } from '@laurel/values/instant';

export const MAX_SENDS = 3;

/** The delays after the first failed send and after the second, in milliseconds. */
export type RetryDelaysMs = readonly [number, number];

/** The delays of retries, unless the configuration sets others. */
export const DEFAULT_RETRY_DELAYS_MS: RetryDelaysMs = [60_000, 300_000];

/**
 * When the next send is due after send number `failed`, which ended at `endedAt`; null after the
 * last one.
 */
export function nextSendAt(failed: number, endedAt: Date, delaysMs: RetryDelaysMs): Date | null {
  const delayMs = failed < MAX_SENDS ? delaysMs[failed - 1] : undefined;
  return delayMs === undefined ? null : later(endedAt, delayMs);
}
