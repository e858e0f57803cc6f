/** A coalescer for a hot statement: concurrent requests of one kind become one statement. */
import { type Coalescer, createCoalescer } from '@laurel/coalesce';
import { histogram } from '@laurel/telemetry';

const BATCH_SIZE_BUCKETS = [1, 2, 5, 10, 20, 50, 100, 200];

/**
 * While a statement runs, items gather for the next one. There are two lanes: one lane prepares its
 * requests while the other waits for the disk or the network. With more lanes, each statement only
 * has fewer items (measured: 4,700 requests/s with one, 5,900 with two and with four).
 */
const LANES = 2;

/**
 * The most items that wait: about a second of work. Any further item is refused immediately,
 * because it would have to wait longer than its caller does.
 */
const MAX_QUEUED = 5_000;

/**
 * If a statement fails, all its items fail. The cause is always the connection: no single item can
 * make its statement fail.
 */
export function batchStatement<Item, Result>(
  name: string,
  run: (items: readonly Item[]) => Promise<readonly Result[]>,
): Coalescer<Item, Result> {
  const sizes = histogram('laurel_batched_statement_items', 'Items that one statement carried.', BATCH_SIZE_BUCKETS, [
    'statement',
  ]).labels(name);
  return createCoalescer({
    name: `gateway.${name}`,
    run,
    lanes: LANES,
    maxQueued: MAX_QUEUED,
    isolate: false,
    onBatch: (size) => sizes.observe(size),
  });
}
