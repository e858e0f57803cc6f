/**
 * The commits of creations and of reports. Concurrent items share one commit, but live and test
 * items never share one.
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
  /** Resolves with one decision per item, in order, as it holds after the commit. */
  commit(batch: readonly Item[]): Promise<readonly Decision[]>;
}): Coalescer<Item, Decision> {
  return createCoalescersByEnvironment<Item, Decision>({
    environmentOf,
    create: () =>
      createCoalescer({
        name,
        // Two lanes never decide the same player or attempt at once, because each batch locks them.
        // Within a batch the items are decided in order.
        lanes: 2,
        isolate: (error) => !isConnectionFailure(error),
        run: commit,
      }),
  });
}
