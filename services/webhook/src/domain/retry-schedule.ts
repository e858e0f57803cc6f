/**
 * When a delivery is sent (partner API, "Delivery behaviour"): three times in total. The first send is due at once, the second 1 minute
 * after the first has failed, the third 5 minutes after the second has; there is none after the third. Nothing that the receiver answers
 * changes that: no jitter, no Retry-After, no status that ends it early.
 */

export const MAX_SENDS = 3;

/** How long to wait after the first failed send and after the second, in milliseconds. */
export type RetryDelaysMs = readonly [number, number];

/** When the send after number `failed`, which ended then, is due; null where that was the last one. */
export function nextSendAt(failed: number, endedAt: Date, delaysMs: RetryDelaysMs): Date | null {
  const delayMs = failed < MAX_SENDS ? delaysMs[failed - 1] : undefined;
  return delayMs === undefined ? null : new Date(endedAt.getTime() + delayMs);
}
