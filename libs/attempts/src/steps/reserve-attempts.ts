/**
 * The reservations of a contest: the commits that decide creations and insert their attempts. Many
 * creations share one commit.
 *
 * Usually the contest has not changed and no rule refuses the creation. The contest decides such
 * creations on cached facts, and one round trip inserts their attempts if all of these facts still
 * hold. A second transaction reads and decides the other creations under locks; only this
 * transaction refuses creations and recognizes repeats. If it fails, the batch runs again, and
 * finds the attempts that the first round trip inserted.
 */
import { type Coalescer, runOptimisticBatch } from '@laurel/coalesce';
import type { BatchOptions, Database, Transaction } from '@laurel/postgres';
import type { ContestServiceName } from '@laurel/values/ids';
import type { Tenant } from '@laurel/values/tenant';
import { failpoint } from '../failpoints.ts';
import { createCommitBatches } from './batch-commits.ts';

/**
 * The contest's two ways to decide and write a batch. Both return one result per creation, in
 * order.
 */
export interface ReservationCommits<Named, Decision> {
  /** The result is null if the cached facts do not accept the creation, or no longer hold. */
  onCache(batch: readonly Named[], options: Pick<BatchOptions, 'beforeCommit'>): Promise<readonly (Decision | null)[]>;
  underLock(tx: Transaction, batch: readonly Named[]): Promise<readonly Decision[]>;
}

export function createReservationCoalescer<
  Named extends { readonly creation: { readonly tenant: Tenant } },
  Decision extends object,
>(
  { contestService, database }: { readonly contestService: ContestServiceName; readonly database: Database },
  { onCache, underLock }: ReservationCommits<Named, Decision>,
): Coalescer<Named, Decision> {
  const beforeCommit = () => failpoint(`${contestService}.create.before-commit`);
  const afterCommit = () => failpoint(`${contestService}.create.after-commit`);
  return createCommitBatches<Named, Decision>({
    name: 'create-attempts',
    environmentOf: ({ creation }) => creation.tenant.environment,
    commit: (batch) =>
      runOptimisticBatch<Named, Decision>(batch, {
        async optimistic(creations) {
          const decisions = await onCache(creations, { beforeCommit });
          if (decisions.some((decision) => decision !== null)) await afterCommit();
          return decisions;
        },
        async underLock(creations) {
          const decisions = await database.transaction((tx) => underLock(tx, creations), { beforeCommit });
          await afterCommit();
          return decisions;
        },
      }),
  });
}
