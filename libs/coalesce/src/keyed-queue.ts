/**
 * Decides which item runs next: in order of arrival, and for each key only the first that is not
 * done.
 *
 * - `count` items are queued: ready, or waiting behind an item of their key.
 * - At most one item of a key is ready or running; the others are chained to it, in order.
 * - `#lastOfKey` holds a key from its first item's arrival until its last item is done.
 */
import { BrokenInvariantError } from './errors.ts';
import { moveSubmission, type Submission } from './submission.ts';
import type { WaitingQueue } from './waiting-queues.ts';

/** The most that the items of one batch may weigh together. One item that is heavier runs alone. */
export interface WeightLimit<Item> {
  readonly maxWeight?: number | undefined;
  readonly weightOf?: ((item: Item) => number) | undefined;
}

const weightless = () => 0;

/** Once this many items have left the queue, they are cut off the array. */
const COMPACT_AFTER = 1024;

export class KeyedQueue<Item, Result> implements WaitingQueue {
  #ready: Submission<Item, Result>[] = [];
  #readyFrom = 0;
  #count = 0;
  readonly #lastOfKey = new Map<string, Submission<Item, Result>>();

  get count(): number {
    return this.#count;
  }

  get readyCount(): number {
    return this.#ready.length - this.#readyFrom;
  }

  add(submission: Submission<Item, Result>): void {
    this.#count += 1;
    if (submission.key !== undefined) {
      const last = this.#lastOfKey.get(submission.key);
      this.#lastOfKey.set(submission.key, submission);
      if (last !== undefined) {
        moveSubmission(submission, 'submitted', 'waiting');
        last.next = submission;
        return;
      }
    }
    moveSubmission(submission, 'submitted', 'ready');
    this.#ready.push(submission);
  }

  /** Takes at most `max` ready items to run. It drops those that were answered meanwhile. */
  take(
    max: number,
    { maxWeight = Number.POSITIVE_INFINITY, weightOf = weightless }: WeightLimit<Item> = {},
  ): readonly Submission<Item, Result>[] {
    const batch: Submission<Item, Result>[] = [];
    let weight = 0;
    while (batch.length < max) {
      const submission = this.#ready[this.#readyFrom];
      if (submission === undefined) break;
      if (!submission.isAnswered) weight += weightOf(submission.item);
      if (weight > maxWeight && batch.length > 0) break;
      this.#readyFrom += 1;
      this.#count -= 1;
      if (submission.isAnswered) {
        moveSubmission(submission, 'ready', 'done');
        this.#readyNext(submission);
      } else {
        moveSubmission(submission, 'ready', 'running');
        batch.push(submission);
      }
    }
    this.#compact();
    return batch;
  }

  /** The item's run is over: the next one of its key becomes ready. */
  finish(submission: Submission<Item, Result>): void {
    moveSubmission(submission, 'running', 'done');
    if (!submission.isAnswered) throw new BrokenInvariantError('an item is done and its caller has no answer');
    this.#readyNext(submission);
  }

  /** All that are queued, in no particular order. */
  *submissions(): Generator<Submission<Item, Result>> {
    for (let index = this.#readyFrom; index < this.#ready.length; index += 1) {
      for (let each = this.#ready[index]; each !== undefined; each = each.next) yield each;
    }
  }

  /**
   * The longest wait of the items that wait for a batch. An item behind a running item of its key
   * does not count: no other lane or process could run it. Looks at every item, because an item
   * that waited for its key is queued behind younger items.
   */
  get oldestWaitMs(): number {
    const now = performance.now();
    let oldest = now;
    for (const { isAnswered, submittedAt } of this.submissions()) {
      if (!isAnswered && submittedAt < oldest) oldest = submittedAt;
    }
    return now - oldest;
  }

  #readyNext({ key, next }: Submission<Item, Result>): void {
    if (key === undefined) return;
    if (next === undefined) {
      this.#lastOfKey.delete(key);
      return;
    }
    moveSubmission(next, 'waiting', 'ready');
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
