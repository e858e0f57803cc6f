/**
 * The reservation: the commit that decides a creation and inserts the attempt, for many creations in one commit.
 *
 * Most creations are of a contest that has not changed, and no rule refuses them. The owner accepts them on cached facts, and they are
 * inserted only where all of these still hold: one round trip. The rest, and those that this did not insert, are read and decided in a
 * second transaction under a lock on each player; only this one refuses and recognizes repeats. If it fails, the batch is run again:
 * attempts that were inserted are known by then.
 */
import { type Coalescer, createCoalescer, createCoalescersByEnvironment, runOptimisticBatch } from '@laurel/coalesce';
import type { AttemptOwner } from '@laurel/ids';
import { type BatchOptions, type Database, isConnectionFailure, type Transaction } from '@laurel/postgres';
import type { Clock } from '@laurel/service';
import type { Tenant } from '@laurel/tenant';
import type { NamedAccount } from '../domain/player.ts';
import { failpoint } from '../failpoints.ts';

/** A creation, and the account that its ref names. */
export type NamedCreation<Creation> = { readonly creation: Creation; readonly account: NamedAccount };

/** A creation that is accepted on cached facts: the decision that holds if `insert` is written. */
export type AcceptedCreation<Decision, Insert> = { readonly decision: Decision; readonly insert: Insert };

/** `now` is the instant that the creations were decided at. */
export type OptimisticInsertOptions = Pick<BatchOptions, 'beforeCommit'> & { readonly now: Date };

/** The owner's part in its reservations. */
export type ReservationSteps<
  Creation,
  Decision extends object,
  Insert extends { readonly attempt: { readonly id: string } },
> = {
  /** One for each creation, in order; null for one that is not accepted on cached facts. */
  acceptOnCache(
    batch: readonly NamedCreation<Creation>[],
    now: Date,
  ): readonly (AcceptedCreation<Decision, Insert> | null)[];
  /** Writes those whose facts still hold, in one round trip. The ids of the attempts that were written. */
  insertOptimistic(
    database: Database,
    inserts: readonly Insert[],
    options: OptimisticInsertOptions,
  ): Promise<ReadonlySet<string>>;
  /** One decision for each creation, in order, written in this transaction. */
  decideUnderLock(tx: Transaction, batch: readonly NamedCreation<Creation>[]): Promise<readonly Decision[]>;
};

type Deps = { readonly owner: AttemptOwner; readonly database: Database; readonly clock: Clock };

export function createReservations<
  Creation extends { readonly tenant: Tenant },
  Decision extends object,
  Insert extends { readonly attempt: { readonly id: string } },
>(
  { owner, database, clock }: Deps,
  { acceptOnCache, insertOptimistic, decideUnderLock }: ReservationSteps<Creation, Decision, Insert>,
): Coalescer<NamedCreation<Creation>, Decision> {
  type Batch = readonly NamedCreation<Creation>[];
  const beforeCommit = () => failpoint(`${owner}.create.before-commit`);
  const afterCommit = () => failpoint(`${owner}.create.after-commit`);

  async function optimistic(batch: Batch): Promise<readonly (Decision | null)[]> {
    const now = clock();
    const accepted = acceptOnCache(batch, now);
    const inserts = accepted.flatMap((creation) => (creation === null ? [] : [creation.insert]));
    if (inserts.length === 0) return batch.map(() => null);

    const written = await insertOptimistic(database, inserts, { now, beforeCommit });
    await afterCommit();
    return accepted.map((creation) =>
      creation !== null && written.has(creation.insert.attempt.id) ? creation.decision : null,
    );
  }

  async function underLock(batch: Batch): Promise<readonly Decision[]> {
    const decisions = await database.transaction((tx) => decideUnderLock(tx, batch), { beforeCommit });
    await afterCommit();
    return decisions;
  }

  return createCoalescersByEnvironment<NamedCreation<Creation>, Decision>({
    environmentOf: ({ creation }) => creation.tenant.environment,
    create: () =>
      createCoalescer({
        name: 'create-attempts',
        // The lock on a player keeps two lanes apart; within a batch the decision runs in order.
        lanes: 2,
        isolate: (error) => !isConnectionFailure(error),
        run: (batch) => runOptimisticBatch<NamedCreation<Creation>, Decision>(batch, { optimistic, underLock }),
      }),
  });
}
