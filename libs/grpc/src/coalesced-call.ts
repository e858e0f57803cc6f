/**
 * A hot rpc takes an array; this file coalesces the single items of concurrent requests into its
 * calls.
 */
import { type Coalescer, createCoalescer } from '@laurel/coalesce';
import { histogram } from '@laurel/telemetry';
import { MAX_ITEMS } from './wire.ts';

const BATCH_SIZE_BUCKETS = [1, 2, 5, 10, 20, 50, 100, 200, 500];

/**
 * Puts a coalescer in front of a call. A call that fails fails all its items; a replay item by item
 * would not help. If the call is idempotent for each item, its client sends the same items once
 * more when the connection broke (`retryLostReply`).
 */
export function createCoalescedCall<Item, Result>(options: {
  name: string;
  call: (items: readonly Item[]) => Promise<readonly Result[]>;
  lanes?: number;
  /** By default as many items as one call takes. */
  maxItems?: number;
  maxWeight?: number;
  weightOf?: (item: Item) => number;
  maxQueued?: number;
  keyOf?: (item: Item) => string;
}): Coalescer<Item, Result> {
  const { name, call, ...limits } = options;
  const sizes = histogram('laurel_coalesced_call_items', 'Items that one call carried.', BATCH_SIZE_BUCKETS, ['call']);
  return createCoalescer<Item, Result>({
    maxItems: MAX_ITEMS,
    ...limits,
    name,
    isolate: false,
    isOutgoing: true,
    run: call,
    onBatch: (size) => sizes.observe({ call: name }, size),
  });
}
