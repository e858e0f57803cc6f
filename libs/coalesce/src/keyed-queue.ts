/**
 * Decides which item runs next: in order of arrival, and for each key only the first that is not
 * done.
 *
 * - `count` items are queued: ready, or waiting behind an item of their key.
 * - At most one item of a key is ready or running; the others are chained to it, in order.
 * - `#lastOfKey` holds a key from its first item's arrival until its last item is done.
 */
import { type Entry, move } from './entry.ts';
import { BrokenInvariantError } from './errors.ts';
import type { WaitingQueue } from './waiting-queues.ts';

/** The items of one take weigh at most this together, or it is a single item. */
export interface WeightLimit<Item> {
  readonly maxWeight?: number | undefined;
  readonly weightOf?: ((item: Item) => number) | undefined;
}

const weightless = () => 0;

/** Once this many items have left the queue, they are cut off the array. */
const COMPACT_AFTER = 1024;

export class KeyedQueue<Item, Result> implements WaitingQueue {
  #ready: Entry<Item, Result>[] = [];
  #readyFrom = 0;
  #count = 0;
  readonly #lastOfKey = new Map<string, Entry<Item, Result>>();

  get count(): number {
    return this.#count;
  }

  get readyCount(): number {
    return this.#ready.length - this.#readyFrom;
  }

  add(entry: Entry<Item, Result>): void {
    this.#count += 1;
    if (entry.key !== undefined) {
      const last = this.#lastOfKey.get(entry.key);
      this.#lastOfKey.set(entry.key, entry);
      if (last !== undefined) {
        move(entry, 'submitted', 'waiting');
        last.next = entry;
        return;
      }
    }
    move(entry, 'submitted', 'ready');
    this.#ready.push(entry);
  }

  /** Takes at most `max` ready items to run. It drops those that were answered meanwhile. */
  take(
    max: number,
    { maxWeight = Number.POSITIVE_INFINITY, weightOf = weightless }: WeightLimit<Item> = {},
  ): readonly Entry<Item, Result>[] {
    const batch: Entry<Item, Result>[] = [];
    let weight = 0;
    while (batch.length < max) {
      const entry = this.#ready[this.#readyFrom];
      if (entry === undefined) break;
      if (!entry.isAnswered) weight += weightOf(entry.item);
      if (weight > maxWeight && batch.length > 0) break;
      this.#readyFrom += 1;
      this.#count -= 1;
      if (entry.isAnswered) {
        move(entry, 'ready', 'done');
        this.#readyNext(entry);
      } else {
        move(entry, 'ready', 'running');
        batch.push(entry);
      }
    }
    this.#compact();
    return batch;
  }

  /** The item's run is over: the next one of its key becomes ready. */
  finish(entry: Entry<Item, Result>): void {
    move(entry, 'running', 'done');
    if (!entry.isAnswered) throw new BrokenInvariantError('an item is done and its caller has no answer');
    this.#readyNext(entry);
  }

  /** All that are queued, in no particular order. */
  *entries(): Generator<Entry<Item, Result>> {
    for (let index = this.#readyFrom; index < this.#ready.length; index += 1) {
      for (let entry = this.#ready[index]; entry !== undefined; entry = entry.next) yield entry;
    }
  }

  /**
   * The longest wait of items that wait for a batch. An item behind a running one of its key does
   * not count: no other lane or process could run it. Looks at every item: one that waited for its
   * key stands behind younger ones.
   */
  get oldestWaitMs(): number {
    const now = performance.now();
    let oldest = now;
    for (const { isAnswered, submittedAt } of this.entries()) {
      if (!isAnswered && submittedAt < oldest) oldest = submittedAt;
    }
    return now - oldest;
  }

  #readyNext({ key, next }: Entry<Item, Result>): void {
    if (key === undefined) return;
    if (next === undefined) {
      this.#lastOfKey.delete(key);
      return;
    }
    move(next, 'waiting', 'ready');
    this.#ready.push(next);
  }

  #compact(): void {
    if (this.#readyFrom === this.#ready.length) {
      this.#ready = [];
      this.#readyFrom = 0;
    } else if (this.#readyFrom >= COMPACT_AFTER) {
      this.#ready = this.#ready.slice(this.#readyFrom);
      this.#readyFrom = 0;
    }
  }
}
