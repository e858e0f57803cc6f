/**
 * The commits of creations and of reports. Concurrent items share a commit, except that a live item
 * and a test item never share one.
 */
import { type Coalescer, createCoalescer, createCoalescersByEnvironment } from '@laurel/coalesce';
import { isConnectionFailure } from '@laurel/postgres';
import type { Environment } from '@laurel/values/tenant';

export function createCommitBatches<Item, Decision>({
  name,
  environmentOf,
  commit,
}: {
  readonly name: 'create-attempts' | 'report-outcomes';
  environmentOf(item: Item): Environment;
  /** Resolves with one decision per item, in order, as the decisions hold after the commit. */
  commit(batch: readonly Item[]): Promise<readonly Decision[]>;
}): Coalescer<Item, Decision> {
  return createCoalescersByEnvironment<Item, Decision>({
    environmentOf,
    create: () =>
      createCoalescer({
        name,
        // Two lanes never decide the same player or attempt at the same time, because each batch
        // locks its players or attempts. Within a batch the items are decided in order.
        lanes: 2,
        isolate: (error) => !isConnectionFailure(error),
        run: commit,
      }),
  });
}
