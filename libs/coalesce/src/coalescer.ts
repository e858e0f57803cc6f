/**
 * Coalesces concurrent requests: callers each submit one item, `run` gets arrays of items, and each
 * caller gets its own result. A coalescer stands in front of every hop and every hot statement,
 * because each call costs much and each item little.
 *
 * States
 * Item      submitted; waiting behind an item of its key; ready, in order of arrival; running in a
 *           batch; done. Its caller is answered once: by its run, or earlier by its deadline or
 *           signal. An item answered early is dropped, or, if it runs already, its result is
 *           ignored (`submission.ts`, `keyed-queue.ts`).
 * Batch     taken from the queue, running, done with its last item. One that failed may be replayed
 *           item by item.
 * Lane      free, or running one batch.
 * Whole     idle (nothing queued, all lanes free), gathering (items ready, `gatherMs` not over), or
 *           running. A flush is scheduled whenever a lane is free and gathering holds no item back.
 *
 * When a batch starts
 * As soon as a lane is free: on the `setImmediate` after the first ready item, so that all items of
 * one turn of the event loop share it. No waiting time needs tuning: while the lanes are busy,
 * items gather into the next batch. Batches grow with the load, and an idle system answers
 * immediately.
 * Work that no caller waits for may gather over time: with `gatherMs`, at most one batch starts per
 * `gatherMs`, unless one is full. The first item after a pause runs immediately; no item waits
 * longer than `gatherMs` for its batch. Do not use it for callers that wait: under load they would
 * wait for the clock although a lane is free. `drain` ignores it.
 *
 * Limits
 * maxItems    items in a batch; the others wait for the next one.
 * maxWeight   sum of the weights in a batch; a heavier item has a batch of its own.
 * lanes       batches at a time; ready items wait.
 * maxQueued   queued items, without running ones; beyond it `submit` rejects with QueueFullError
 *             immediately.
 * deadlineAt  an item's whole stay; after it the item is rejected with ItemDeadlineError.
 * A run has no limit here: `run` enforces its own, or keeps its lane.
 *
 * Invariants
 * Each item is answered exactly once. Items of a key run in order: at most one in a batch, never in
 * two lanes at once. The limits above hold. A lane is free again however its batch ended.
 * An error that a callback throws (`run`, `keyOf`, `isolate`, `onBatch`, the observer) rejects the
 * items that it concerns. A broken invariant in the queue or the lanes means lost state: it throws
 * out of the event loop and ends the process.
 *
 * run-batch.ts runs a batch, and handles one that fails.
 */
import { DeadlineSweep } from './deadline-sweep.ts';
import { BrokenInvariantError, ItemDeadlineError, QueueFullError } from './errors.ts';
import { KeyedQueue } from './keyed-queue.ts';
import { currentObserver } from './observer.ts';
import { type Batch, runBatch } from './run-batch.ts';
import { rejectSubmission, type Submission } from './submission.ts';
import { registerQueue } from './waiting-queues.ts';

export interface CoalescerOptions<Item, Result> {
  /** Names this coalescer in its errors. */
  readonly name: string;
  /** Returns one result per item, in the order of the items. */
  readonly run: (items: readonly Item[]) => Promise<readonly Result[]>;
  /** The most items of one batch. */
  readonly maxItems?: number;
  /**
   * The most that the items of one batch weigh together, by `weightOf`; a single item may weigh
   * more.
   */
  readonly maxWeight?: number;
  readonly weightOf?: (item: Item) => number;
  /** The most batches at a time. */
  readonly lanes?: number;
  /**
   * The least time between the starts of two batches that are not full, for work that no caller
   * waits for.
   */
  readonly gatherMs?: number;
  /** The most items that may be queued; more are refused immediately, before latency collapses. */
  readonly maxQueued?: number;
  /**
   * Items of one key keep their order: at most one in a batch, and never in two lanes at once.
   * Without `keyOf` items are independent.
   */
  readonly keyOf?: (item: Item) => string;
  /**
   * Whether to replay a failed batch item by item; a predicate decides by the error. A database
   * that is down is not the fault of an item.
   */
  readonly isolate?: boolean | ((error: unknown) => boolean);
  /**
   * Batches are calls to another service. A wait in front of them shows the load of that service,
   * so it is not reported as this service's.
   */
  readonly isOutgoing?: boolean;
  /** Gets the size of each batch before it runs; not called again for replayed items. */
  readonly onBatch?: (size: number) => void;
}

export interface SubmitOptions {
  /**
   * The deadline in milliseconds since the epoch; after it the caller gets an `ItemDeadlineError`.
   */
  readonly deadlineAt?: number | undefined;
  /** If the signal aborts, the caller gets the signal's reason. */
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
  // Items that gather wait for the clock, not for capacity, and no caller waits for them.
  if (gatherMs === 0 && !isOutgoing) registerQueue(name, queue);
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
      const submission: Submission<Item, Result> = {
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
        submission.onAbort = () => rejectSubmission(submission, signal.reason);
        signal.addEventListener('abort', submission.onAbort, { once: true });
      }
      deadlines.noLaterThan(submission.deadlineAt);
      queue.add(submission);
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
    for (const submission of batch) queue.finish(submission);
    scheduleFlush();
    resolveDrained();
  }

  /** Whether the ready items should wait for more. */
  function isGathering(): boolean {
    if (gatherMs === 0 || drained.length > 0 || queue.readyCount >= maxItems) return false;
    return gatherTimer !== undefined || performance.now() < nextStartAt;
  }

  function* unfinished(): Generator<Submission<Item, Result>> {
    for (const batch of running) {
      for (const first of batch) {
        for (let each: Submission<Item, Result> | undefined = first; each !== undefined; each = each.next) yield each;
      }
    }
    yield* queue.submissions();
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
