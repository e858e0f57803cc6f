/**
 * What each subject, a tenant or a developer, may have read of what it sends: bytes a second, as token buckets that hold two seconds.
 * What a body costs is known once it is read, and counts then: a bucket may be in debt, and refuses until it has enough for the next one.
 *
 * Only full buckets are dropped, by the oldest use: a bucket that counts is never forgotten.
 */
import type { Environment, Tenant } from './tenant.ts';
import { type Bucket, type BucketLevel, bytesAt, msUntilRefilled } from './token-bucket.ts';

export interface ByteBudgets {
  /** Milliseconds until `bytes` are within the budget; 0 when they are now. More than a bucket holds is let pass when it is full. */
  waitFor(subject: string, bytes: number, now: number): number;
  /** Also for more than the budget has. */
  take(subject: string, bytes: number, now: number): void;
}

export const SECONDS_HELD = 2;
/** Buckets that are known beyond this number are dropped once they are full. */
const MANY = 10_000;
/** Looked at with each use, so that a table never needs a sweep. */
const LOOKED_AT = 4;

export function createByteBudgets(bytesPerSecond: number): ByteBudgets {
  const bucket: Bucket = { bytesPerSecond, maxBytes: bytesPerSecond * SECONDS_HELD };
  const levels = new Map<string, BucketLevel>();

  function dropFull(now: number): void {
    let looked = 0;
    for (const [subject, level] of levels) {
      if (levels.size <= MANY || looked === LOOKED_AT) return;
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

/** Bytes a second of a tenant, by its environment. */
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
