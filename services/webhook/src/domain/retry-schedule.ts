/**
 * When a delivery is sent (docs/contract/partner-api.md, "Delivery behaviour"): three times in total. The first send is due immediately, the
 * second 1 minute after the first has failed, the third 5 minutes after the second has failed; there is none after the third. No response of
 * the receiver changes that: there is no jitter, no Retry-After, and no failure status that ends it early.
 */
import { later } from '@laurel/instant';

export const MAX_SENDS = 3;

/** The delays after the first failed send and after the second, in milliseconds. */
export type RetryDelaysMs = readonly [number, number];

/** Unless the host sets others. */
export const DEFAULT_RETRY_DELAYS_MS: RetryDelaysMs = [60_000, 300_000];

/** When the send after number `failed`, which ended at `endedAt`, is due; null where that was the last one. */
export function nextSendAt(failed: number, endedAt: Date, delaysMs: RetryDelaysMs): Date | null {
  const delayMs = failed < MAX_SENDS ? delaysMs[failed - 1] : undefined;
  return delayMs === undefined ? null : later(endedAt, delayMs);
}
