/**
 * A token bucket, of bytes: it refills steadily and holds no more than its size. What is taken must be there, so over any time no more is
 * taken than the size and what the time refilled.
 */

export interface Bucket {
  readonly bytesPerSecond: number;
  readonly maxBytes: number;
}

/** What a bucket held when something was last taken from it; a bucket that nothing was taken from is full. */
export interface BucketLevel {
  readonly bytes: number;
  /** Milliseconds. */
  readonly at: number;
}

const SECOND_MS = 1_000;

/** A clock that went back would keep the bucket as it was until the old time comes again: it is full then. */
export function bytesAt({ bytesPerSecond, maxBytes }: Bucket, level: BucketLevel | undefined, now: number): number {
  if (level === undefined || now < level.at) return maxBytes;
  return Math.min(maxBytes, level.bytes + ((now - level.at) * bytesPerSecond) / SECOND_MS);
}

/** How long until the bucket holds `wanted`, which is no more than its size; 0 when it does. */
export function msUntilRefilled(bucket: Bucket, level: BucketLevel | undefined, wanted: number, now: number): number {
  const missing = wanted - bytesAt(bucket, level, now);
  return missing <= 0 ? 0 : Math.ceil((missing * SECOND_MS) / bucket.bytesPerSecond);
}
