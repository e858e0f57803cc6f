import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type BucketLevel, bytesAt, msUntilRefilled } from './token-bucket.ts';

const BUCKET = { bytesPerSecond: 1_000, maxBytes: 3_000 };

test('a bucket starts full and refills steadily up to its size', () => {
  expect(bytesAt(BUCKET, undefined, 0)).toBe(3_000);
  const level = { bytes: 500, at: 10_000 };
  expect([10_000, 10_250, 12_500, 60_000].map((now) => bytesAt(BUCKET, level, now))).toEqual([500, 750, 3_000, 3_000]);
});

test('a bucket is full after the clock went back', () => {
  expect(bytesAt(BUCKET, { bytes: 0, at: 10_000 }, 9_999)).toBe(3_000);
});

test('the returned wait is the shortest after which the bucket holds enough', () => {
  const level = fc.record({ bytes: fc.nat(3_000), at: fc.nat(5_000) });
  const wanted = fc.integer({ min: 1, max: 3_000 });
  fc.assert(
    fc.property(level, wanted, fc.nat(5_000), (last, bytes, later) => {
      const now = last.at + later;
      const waitMs = msUntilRefilled(BUCKET, last, bytes, now);
      expect(bytesAt(BUCKET, last, now + waitMs)).toBeGreaterThanOrEqual(bytes);
      if (waitMs > 0) expect(bytesAt(BUCKET, last, now + waitMs - 1)).toBeLessThan(bytes);
    }),
  );
});

test('a bucket admits at most its size plus the refill of any period', () => {
  const takes = fc.array(fc.record({ afterMs: fc.nat(400), bytes: fc.integer({ min: 1, max: 3_000 }) }));
  fc.assert(
    fc.property(takes, (sequence) => {
      let level: BucketLevel | undefined;
      let now = 0;
      let taken = 0;
      for (const { afterMs, bytes } of sequence) {
        now += afterMs;
        if (msUntilRefilled(BUCKET, level, bytes, now) > 0) continue;
        level = { bytes: bytesAt(BUCKET, level, now) - bytes, at: now };
        taken += bytes;
      }
      expect(taken).toBeLessThanOrEqual(BUCKET.maxBytes + (now * BUCKET.bytesPerSecond) / 1_000);
    }),
  );
});
