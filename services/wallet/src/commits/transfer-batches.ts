/**
 * The batching that the four hot rpcs share. Items of concurrent calls become one batch, and a
 * batch is one transaction of a few statements.
 *
 * - Live and test items have separate batches and lanes, so that no live item waits behind a test
 *   item.
 * - There are two lanes: while one batch commits, the next is read and decided. Items of one key (a
 *   player's row) are never in both.
 * - A batch is decided in the order of its ids, and writes its transfers in that order. Two writers
 *   may conflict on an id: a charge and a tombstone, or the same charge at two replicas. Because of
 *   the order, such writers wait for each other in one direction only.
 * - The writer that loses such a conflict gets a unique violation, and has changed nothing. The
 *   batch runs once more and finds the winner's rows. If it fails again, the coalescer runs its
 *   items one by one, so that one bad item fails alone.
 */
import { type Coalescer, createCoalescer, createCoalescersByEnvironment } from '@laurel/coalesce';
import { isConnectionFailure, isUniqueViolation } from '@laurel/postgres';
import { histogram } from '@laurel/telemetry';
import type { Environment } from '@laurel/values/tenant';

const LANES = 2;
const MAX_ITEMS = 200;
const BATCH_SIZE_BUCKETS = [1, 2, 5, 10, 20, 50, 100, 200];

export function createTransferBatches<Item, Result>(options: {
  name: string;
  /** The id of the item's transfer. Each id is decided once. */
  idOf: (item: Item) => string;
  /** Items of one key stay in order. */
  keyOf: (item: Item) => string;
  environmentOf: (item: Item) => Environment;
  /**
   * Runs one transaction and returns a result per item, in order. A second run with the same items
   * must be safe.
   */
  run: (items: readonly Item[]) => Promise<readonly Result[]>;
}): Coalescer<Item, Result> {
  const { name, idOf, keyOf, environmentOf, run } = options;
  const sizes = histogram('laurel_wallet_batch_items', 'Items that one transaction carried.', BATCH_SIZE_BUCKETS, [
    'batch',
  ]);

  return createCoalescersByEnvironment({
    environmentOf,
    create: () =>
      createCoalescer<Item, Result>({
        name,
        lanes: LANES,
        maxItems: MAX_ITEMS,
        keyOf,
        // An unreachable database is not the fault of an item: running each item alone would only
        // delay the failure.
        isolate: (error) => !isConnectionFailure(error),
        onBatch: (size) => sizes.observe({ batch: name }, size),
        run: (items) => inOrderOf(idOf, items, (ordered) => againOnConflict(() => run(ordered))),
      }),
  });
}

/** Runs the items in the order of their ids; returns the results in the items' own order. */
async function inOrderOf<Item, Result>(
  idOf: (item: Item) => string,
  items: readonly Item[],
  run: (ordered: readonly Item[]) => Promise<readonly Result[]>,
): Promise<readonly Result[]> {
  const indexed = items.map((item, index) => ({ item, index, id: idOf(item) }));
  indexed.sort((a, b) => (a.id < b.id ? -1 : 1));
  const ordered = await run(indexed.map(({ item }) => item));
  const results = Array.from(ordered);
  indexed.forEach(({ index }, position) => {
    results[index] = ordered[position] as Result;
  });
  return results;
}

async function againOnConflict<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    return await work();
  }
}
