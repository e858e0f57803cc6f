/**
 * The coalescing client: many callers each submit one item, `run` gets arrays of them, and every caller gets its own result.
 * It is used at every hop and in front of every hot statement, because a hop costs by the call and hardly by the item.
 *
 * States
 *   An item   is submitted; waits behind an item of its key; is ready, in the order of arrival; runs in a batch; is done. Its caller is
 *             answered once: by its run, or before that when its deadline passes or its signal aborts. An item that was answered early
 *             and does not run yet is dropped; one that runs already runs to its end, its result ignored (`entry.ts`, `keyed-queue.ts`).
 *   A batch   is taken from the queue, runs, and is done with the last of its items. One that failed may be replayed item by item.
 *   A lane    is free or has one batch.
 *   The whole is idle (nothing queued, all lanes free), gathering (ready items, and `gatherMs` not over), or running. A flush is scheduled
 *             whenever a lane is free and an item is ready that gathering does not hold back.
 *
 * When a batch starts
 *   As soon as a lane is free: on the `setImmediate` after the first ready item, so that all items of one turn of the event loop
 *   share it. There is no waiting time to tune: while the lanes are busy, items gather into the next batch, so that batches are
 *   as large as the load asks for and an idle system answers immediately.
 *   Work that no caller waits for may gather over time as well: with `gatherMs`, batches start at least so long after each other, unless
 *   one is full. The first item after a pause still runs immediately, and later ones go together: at most one batch per `gatherMs`,
 *   however its items trickle in, and no item waits longer than that for its batch. It is not for what a caller waits for: under load
 *   that caller would wait for the clock, where the lanes alone would have let it go. `drain` waits for no clock.
 *
 * Limits, and what happens at each
 *   maxItems    a batch: the others wait for the next one.
 *   maxWeight   a batch: the sum of its items' weights; an item that is heavier alone has a batch of its own.
 *   lanes       batches at a time: ready items wait.
 *   maxQueued   queued items, running ones not counted: `submit` rejects with QueueFullError immediately.
 *   deadlineAt  the item's whole stay: rejected with ItemDeadlineError.
 *   A run has no limit of its own: `run` enforces its own, or keeps its lane.
 *
 * Invariants
 *   Each item is answered exactly once. Items of a key run in their order, at most one in a batch and never in two lanes at once. There
 *   are never more than `maxItems` in a batch, `lanes` batches, `maxQueued` queued items. A lane is free again however its batch ended.
 *   What a callback (`run`, `keyOf`, `isolate`, `onBatch`, the observer) throws is the answer of the items that it concerns. A broken
 *   invariant in the queue or the lanes is lost state: it throws out of the event loop and ends the process.
 *
 * How a batch runs and how one that fails is handled: run-batch.ts.
 */
import { DeadlineSweep } from './deadline-sweep.ts';
import { type Entry, rejectEntry } from './entry.ts';
import { BrokenInvariantError, ItemDeadlineError, QueueFullError } from './errors.ts';
import { KeyedQueue } from './keyed-queue.ts';
import { currentObserver } from './observer.ts';
import { type Batch, runBatch } from './run-batch.ts';
import { reportQueue } from './waiting-queues.ts';

export interface CoalescerOptions<Item, Result> {
  /** Names this coalescer in its errors. */
  readonly name: string;
  /** Returns one result per item, in the order of the items. */
  readonly run: (items: readonly Item[]) => Promise<readonly Result[]>;
  /** The most items of one batch. */
  readonly maxItems?: number;
  /** The most that the items of one batch weigh together, by `weightOf`; one item may weigh more. */
  readonly maxWeight?: number;
  readonly weightOf?: (item: Item) => number;
  /** The most batches at a time. */
  readonly lanes?: number;
  /** The least time between the starts of two batches, unless as many items as fit are ready: for work that no caller waits for. */
  readonly gatherMs?: number;
  /** The most items that may be queued; more are refused immediately, before latency collapses. */
  readonly maxQueued?: number;
  /** Items of one key keep their order: never in two lanes at once, one a batch. Without it items are independent. */
  readonly keyOf?: (item: Item) => string;
  /** Whether a failed batch is replayed item by item; as a predicate, for which errors. A dead database is no bad item. */
  readonly isolate?: boolean | ((error: unknown) => boolean);
  /** Batches are calls to another service: waits in front of them show that service's load, and are not reported as this one's. */
  readonly isOutgoing?: boolean;
  /** Gets the size of each batch before it runs; not called again for replayed items. */
  readonly onBatch?: (size: number) => void;
}

export interface SubmitOptions {
  /** Milliseconds since the epoch; after it the caller gets an `ItemDeadlineError`. */
  readonly deadlineAt?: number | undefined;
  /** When it aborts, the caller gets its reason. */
  readonly signal?: AbortSignal | undefined;
}

export interface Coalescer<Item, Result> {
  submit(item: Item, options?: SubmitOptions): Promise<Result>;
  /** Resolves when every item is done, those submitted meanwhile included. */
  drain(): Promise<void>;
  /** How many items wait for a lane. */
  readonly queued: number;
}

export function createCoalescer<Item, Result>(options: CoalescerOptions<Item, Result>): Coalescer<Item, Result> {
  const {
    name,
    run,
    keyOf,
    onBatch,
    maxItems = 200,
    lanes = 1,
    gatherMs = 0,
    maxQueued = 20_000,
    isolate = true,
    isOutgoing = false,
  } = options;
  const answering = { name, run, isolate, onBatch };
  if (maxItems < 1 || lanes < 1)
    throw new RangeError(`${name}: a coalescer has at least one lane and one item a batch`);

  const queue = new KeyedQueue<Item, Result>();
  // What gathers waits for the clock, and no caller waits for it.
  if (gatherMs === 0 && !isOutgoing) reportQueue(name, queue);
  const running = new Set<Batch<Item, Result>>();
  const deadlines = new DeadlineSweep(unfinished, pastDeadline);
  let isFlushScheduled = false;
  let nextStartAt = 0;
  let gatherTimer: NodeJS.Timeout | undefined;
  let drained: (() => void)[] = [];

  function submit(item: Item, { deadlineAt, signal }: SubmitOptions = {}): Promise<Result> {
    if (queue.count >= maxQueued) {
      return Promise.reject(new QueueFullError(`${name}: ${queue.count} items are waiting already`));
    }
    if (signal?.aborted) return Promise.reject(signal.reason);
    if (deadlineAt !== undefined && deadlineAt <= Date.now()) return Promise.reject(pastDeadline());
    return new Promise((resolve, reject) => {
      const entry: Entry<Item, Result> = {
        item,
        key: keyOf?.(item),
        resolve,
        reject,
        submittedAt: performance.now(),
        deadlineAt: deadlineAt ?? Number.POSITIVE_INFINITY,
        signal,
        observed: currentObserver()?.onSubmit(name),
        state: 'submitted',
        isAnswered: false,
        onAbort: undefined,
        next: undefined,
      };
      if (signal !== undefined) {
        entry.onAbort = () => rejectEntry(entry, signal.reason);
        signal.addEventListener('abort', entry.onAbort, { once: true });
      }
      deadlines.noLaterThan(entry.deadlineAt);
      queue.add(entry);
      scheduleFlush();
    });
  }

  function scheduleFlush(): void {
    if (isFlushScheduled || running.size >= lanes || queue.readyCount === 0) return;
    if (isGathering()) {
      gatherTimer ??= setTimeout(flush, nextStartAt - performance.now());
      return;
    }
    clearTimeout(gatherTimer);
    isFlushScheduled = true;
    setImmediate(flush);
  }

  function flush(): void {
    isFlushScheduled = false;
    gatherTimer = undefined;
    while (running.size < lanes) {
      const batch = queue.take(maxItems, options);
      if (batch.length === 0) break;
      running.add(batch);
      if (gatherMs > 0) nextStartAt = performance.now() + gatherMs;
      void runBatch(batch, answering).then(() => freeLane(batch));
      if (isGathering()) {
        scheduleFlush();
        break;
      }
    }
    resolveDrained();
  }

  function freeLane(batch: Batch<Item, Result>): void {
    if (!running.delete(batch)) throw new BrokenInvariantError(`${name}: a lane was freed twice`);
    for (const entry of batch) queue.finish(entry);
    scheduleFlush();
    resolveDrained();
  }

  /** Whether the ready items should wait for more. */
  function isGathering(): boolean {
    if (gatherMs === 0 || drained.length > 0 || queue.readyCount >= maxItems) return false;
    return gatherTimer !== undefined || performance.now() < nextStartAt;
  }

  function* unfinished(): Generator<Entry<Item, Result>> {
    for (const batch of running) {
      for (const first of batch) {
        for (let entry: Entry<Item, Result> | undefined = first; entry !== undefined; entry = entry.next) yield entry;
      }
    }
    yield* queue.entries();
  }

  function pastDeadline(): ItemDeadlineError {
    return new ItemDeadlineError(`${name}: the deadline of the item has passed`);
  }

  function isIdle(): boolean {
    return queue.count === 0 && running.size === 0;
  }

  function resolveDrained(): void {
    if (drained.length === 0 || !isIdle()) return;
    const waiting = drained;
    drained = [];
    for (const resolve of waiting) resolve();
  }

  return {
    submit,
    drain: () => {
      if (isIdle()) return Promise.resolve();
      return new Promise((resolve) => {
        drained.push(resolve);
        scheduleFlush();
      });
    },
    get queued() {
      return queue.count;
    },
  };
}
