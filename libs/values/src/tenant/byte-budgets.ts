/**
 * Byte budgets: how many bytes a second Laurel reads for each subject, a tenant or a developer.
 * Each budget is a token bucket that holds the bytes of two seconds. The full cost of a body is
 * known only once the body is read, and is taken then. So a bucket may go into debt; it then
 * refuses until it has enough for the next body.
 *
 * Only full buckets are dropped, the longest unused first, so no debt is ever forgotten.
 */
import type { Environment, Tenant } from './tenant.ts';
import { type Bucket, type BucketLevel, bytesAt, msUntilRefilled } from './token-bucket.ts';

export interface ByteBudgets {
  /**
   * Milliseconds until the budget has `bytes`; 0 if it has them now. A body larger than the whole
   * bucket passes when the bucket is full.
   */
  waitFor(subject: string, bytes: number, now: number): number;
  /** Takes bytes, which may be more than the budget has. */
  take(subject: string, bytes: number, now: number): void;
}

export const SECONDS_HELD = 2;
/** While the table has more buckets than this, full ones are dropped. */
const MANY_BUCKETS = 10_000;
/**
 * Each use of a budget checks this many of the longest unused buckets, so that nothing has to sweep
 * the table.
 */
const BUCKETS_CHECKED_PER_USE = 4;

export function createByteBudgets(bytesPerSecond: number): ByteBudgets {
  const bucket: Bucket = { bytesPerSecond, maxBytes: bytesPerSecond * SECONDS_HELD };
  const levels = new Map<string, BucketLevel>();

  function dropFull(now: number): void {
    let looked = 0;
    for (const [subject, level] of levels) {
      if (levels.size <= MANY_BUCKETS || looked === BUCKETS_CHECKED_PER_USE) return;
      looked += 1;
      if (bytesAt(bucket, level, now) === bucket.maxBytes) levels.delete(subject);
    }
  }

  return {
    waitFor: (subject, bytes, now) =>
      msUntilRefilled(bucket, levels.get(subject), Math.min(bytes, bucket.maxBytes), now),
    take(subject, bytes, now) {
      const left = bytesAt(bucket, levels.get(subject), now) - bytes;
      levels.delete(subject);
      levels.set(subject, { bytes: left, at: now });
      dropFull(now);
    },
  };
}

/** The bytes a second of a tenant depend on its environment. */
export function createTenantBudgets(bytesPerSecond: Readonly<Record<Environment, number>>) {
  const budgets = { test: createByteBudgets(bytesPerSecond.test), live: createByteBudgets(bytesPerSecond.live) };
  return {
    limitOf: ({ environment }: Tenant) => bytesPerSecond[environment],
    waitFor: ({ environment, programId }: Tenant, bytes: number, now: number) =>
      budgets[environment].waitFor(programId, bytes, now),
    take: ({ environment, programId }: Tenant, bytes: number, now: number) =>
      budgets[environment].take(programId, bytes, now),
  };
}

export type TenantBudgets = ReturnType<typeof createTenantBudgets>;
