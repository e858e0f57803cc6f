/**
 * A token bucket of bytes: it refills steadily up to its size, and only bytes that it holds can be
 * taken. So over any time at most its size plus the refill is taken.
 */

export interface Bucket {
  readonly bytesPerSecond: number;
  readonly maxBytes: number;
}

/**
 * The level of a bucket when bytes were last taken from it. A bucket from which none were taken is
 * full.
 */
export interface BucketLevel {
  readonly bytes: number;
  /** The time in milliseconds. */
  readonly at: number;
}

const SECOND_MS = 1_000;

/**
 * The bytes that the bucket holds now. It counts as full after the clock went back: otherwise it
 * would not refill until the clock reaches the old time again.
 */
export function bytesAt({ bytesPerSecond, maxBytes }: Bucket, level: BucketLevel | undefined, now: number): number {
  if (level === undefined || now < level.at) return maxBytes;
  return Math.min(maxBytes, level.bytes + ((now - level.at) * bytesPerSecond) / SECOND_MS);
}

/**
 * Milliseconds until the bucket holds `wanted` bytes; 0 if it holds them now. `wanted` is at most
 * the size of the bucket.
 */
export function msUntilRefilled(bucket: Bucket, level: BucketLevel | undefined, wanted: number, now: number): number {
  const missing = wanted - bytesAt(bucket, level, now);
  return missing <= 0 ? 0 : Math.ceil((missing * SECOND_MS) / bucket.bytesPerSecond);
}
