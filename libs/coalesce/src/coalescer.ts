/**
 * The coalescing client: many callers each submit one item, `run` gets arrays of them, and every caller gets its own result.
 * It stands at every hop and in front of every hot statement, because a hop costs by the call and hardly by the item.
 *
 * An item is, in this order,
 *   waiting   behind another item of its key: it becomes ready when that one is done;
 *   ready     in the queue, in the order of arrival; no two ready or running items have the same key;
 *   running   in a batch, in one of the lanes;
 *   done      its place is free, and the next item of its key becomes ready.
 * Its caller is answered when it is done, or before that when its deadline passes or its signal aborts. An item that was
 * answered early and is not running yet is dropped without a run; one that runs already runs to its end, unheard.
 *
 * A batch starts as soon as a lane is free: on the `setImmediate` after the first ready item, so that everything that one
 * turn of the event loop brings rides together. There is no waiting time to tune: while the lanes are busy, items gather
 * into the next batch by themselves, so that batches are as large as the load asks for and an idle system answers at once.
 *
 * Work that nobody waits for may gather over time as well: with `gatherMs`, batches start at least so long after each other, unless one is
 * full. The first item after a pause still goes at once, and whatever comes then rides together: at most one batch per `gatherMs`, however
 * its items trickle in, and no item waits longer than that for its turn. It is not for what a caller waits for: under load that caller
 * would wait for the clock, where the lanes alone would have let it go. `drain` waits for no clock.
 *
 * From these states follow the laws: each item is answered exactly once; items of a key run in their order, at most one in
 * a batch and never in two lanes at once; there are never more than `maxItems` in a batch nor more than `lanes` batches.
 *
 * A batch that fails is run again item by item, so that one bad item fails alone: `run` must have had no effect when it
 * throws, or the same effect twice must be one. Without `isolate` every item of the batch gets the error.
 */
export interface CoalescerOptions<Item, Result> {
  /** Names this coalescer in its errors. */
  readonly name: string;
  /** Answers one result per item, in the order of the items. */
  readonly run: (items: readonly Item[]) => Promise<readonly Result[]>;
  /** The most items of one batch. */
  readonly maxItems?: number;
  /** The most batches at a time. */
  readonly lanes?: number;
  /** The least time between the starts of two batches, unless as many items as fit are ready: for work that nobody waits for. */
  readonly gatherMs?: number;
  /** The most items that may wait; more are refused at once, before latency collapses. */
  readonly maxQueued?: number;
  /** Items of one key keep their order: never in two lanes at once, one a batch. Without it items are independent. */
  readonly keyOf?: (item: Item) => string;
  /** Whether a failed batch is replayed item by item; as a predicate, for which errors. A dead database is no bad item. */
  readonly isolate?: boolean | ((error: unknown) => boolean);
  /** Told the size of each batch before it runs; replayed items are not told again. */
  readonly onBatch?: (size: number) => void;
}

/**
 * Sees the items and runs of every coalescer of the process, for traces. An item is of interest when `onSubmit` answers something; that
 * is told how the item was answered, and is among the `items` of each run that carries it.
 */
export interface CoalescerObserver<Observed extends ObservedItem = ObservedItem> {
  onSubmit(name: string): Observed | undefined;
  /** Called in place of `run`, which it calls. */
  onRun<Results>(
    batch: { readonly name: string; readonly size: number; readonly items: readonly Observed[] },
    run: () => Promise<Results>,
  ): Promise<Results>;
}

export interface ObservedItem {
  onAnswer(error?: unknown): void;
}

let observer: CoalescerObserver | undefined;

/** One observer a process; `undefined` takes it away. Coalescers that are there already are seen too. */
export function observeCoalescers<Observed extends ObservedItem>(next: CoalescerObserver<Observed> | undefined): void {
  observer = next as CoalescerObserver | undefined;
}

export interface SubmitOptions {
  /** Milliseconds since the epoch; after it the caller gets an `ItemDeadlineError`. */
  readonly deadlineAt?: number | undefined;
  /** When it aborts, the caller gets its reason. */
  readonly signal?: AbortSignal | undefined;
}

export interface Coalescer<Item, Result> {
  submit(item: Item, options?: SubmitOptions): Promise<Result>;
  /** Resolves when every item is done, those that come meanwhile included. */
  drain(): Promise<void>;
  /** How many items wait for a lane. */
  readonly queued: number;
}

/** So much is waiting that another item would only wait in vain; it had no effect. */
export class QueueFullError extends Error {
  override readonly name = 'QueueFullError';
}

/** The item's deadline passed; whether it had its effect is not known. */
export class ItemDeadlineError extends Error {
  override readonly name = 'ItemDeadlineError';
}

interface Entry<Item, Result> {
  readonly item: Item;
  readonly key: string | undefined;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
  readonly deadlineAt: number;
  readonly signal: AbortSignal | undefined;
  readonly observed: ObservedItem | undefined;
  onAbort: (() => void) | undefined;
  isAnswered: boolean;
  /** The item of the same key that waits behind this one. */
  next: Entry<Item, Result> | undefined;
}

/** The longest that a timer of Node can wait. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Ready items that were taken are cut off the array once there are so many of them. */
const COMPACT_AFTER = 1024;

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
  } = options;
  if (maxItems < 1 || lanes < 1)
    throw new RangeError(`${name}: a coalescer has at least one lane and one item a batch`);
  type Place = Entry<Item, Result>;

  let ready: Place[] = [];
  let readyFrom = 0;
  /** The last item of each key that is waiting, ready or running. */
  const lastOfKey = new Map<string, Place>();
  const batches = new Set<readonly Place[]>();
  let queued = 0;
  let isFlushScheduled = false;
  let nextStartAt = 0;
  let gatherTimer: NodeJS.Timeout | undefined;
  let drained: (() => void)[] = [];
  let sweepAt = Number.POSITIVE_INFINITY;
  let sweepTimer: NodeJS.Timeout | undefined;

  function submit(item: Item, { deadlineAt, signal }: SubmitOptions = {}): Promise<Result> {
    if (queued >= maxQueued) return Promise.reject(new QueueFullError(`${name}: ${queued} items are waiting already`));
    if (signal?.aborted) return Promise.reject(signal.reason);
    if (deadlineAt !== undefined && deadlineAt <= Date.now()) return Promise.reject(pastDeadline());
    const key = keyOf?.(item);
    return new Promise((resolve, reject) => {
      const entry: Place = {
        item,
        key,
        resolve,
        reject,
        deadlineAt: deadlineAt ?? Number.POSITIVE_INFINITY,
        signal,
        observed: observer?.onSubmit(name),
        onAbort: undefined,
        isAnswered: false,
        next: undefined,
      };
      if (signal !== undefined) listen(entry, signal);
      if (entry.deadlineAt < sweepAt) sweepNoLaterThan(entry.deadlineAt);
      enqueue(entry);
    });
  }

  function enqueue(entry: Place): void {
    queued += 1;
    if (entry.key !== undefined) {
      const last = lastOfKey.get(entry.key);
      lastOfKey.set(entry.key, entry);
      if (last !== undefined) {
        last.next = entry;
        return;
      }
    }
    ready.push(entry);
    scheduleFlush();
  }

  function scheduleFlush(): void {
    if (isFlushScheduled || batches.size >= lanes || ready.length === readyFrom) return;
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
    while (batches.size < lanes) {
      const batch = takeBatch();
      if (batch.length === 0) break;
      batches.add(batch);
      if (gatherMs > 0) nextStartAt = performance.now() + gatherMs;
      void runBatch(batch).then(() => {
        batches.delete(batch);
        for (const entry of batch) leave(entry);
        scheduleFlush();
        resolveDrained();
      });
      if (isGathering()) {
        scheduleFlush();
        break;
      }
    }
    resolveDrained();
  }

  /** Whether what is ready should wait for more. */
  function isGathering(): boolean {
    if (gatherMs === 0 || drained.length > 0 || ready.length - readyFrom >= maxItems) return false;
    return gatherTimer !== undefined || performance.now() < nextStartAt;
  }

  function takeBatch(): readonly Place[] {
    const batch: Place[] = [];
    while (batch.length < maxItems) {
      const entry = ready[readyFrom];
      if (entry === undefined) break;
      readyFrom += 1;
      queued -= 1;
      if (entry.isAnswered) leave(entry);
      else batch.push(entry);
    }
    if (readyFrom === ready.length) {
      ready = [];
      readyFrom = 0;
    } else if (readyFrom >= COMPACT_AFTER) {
      ready = ready.slice(readyFrom);
      readyFrom = 0;
    }
    return batch;
  }

  /** The item is done: the next of its key is ready. */
  function leave(entry: Place): void {
    if (entry.key === undefined) return;
    if (entry.next !== undefined) ready.push(entry.next);
    else lastOfKey.delete(entry.key);
  }

  /** Never rejects: whatever goes wrong is the answer of the items that it concerns. */
  async function runBatch(batch: readonly Place[]): Promise<void> {
    onBatch?.(batch.length);
    const error = await attempt(batch);
    if (error === undefined) return;
    if (batch.length === 1 || !mayIsolate(error.cause)) {
      rejectAll(batch, error.cause);
      return;
    }
    for (const [index, entry] of batch.entries()) {
      if (entry.isAnswered) continue;
      const failure = await attempt([entry]);
      if (failure === undefined) continue;
      if (!mayIsolate(failure.cause)) {
        rejectAll(batch.slice(index), failure.cause);
        return;
      }
      rejectOne(entry, failure.cause);
    }
  }

  /** Runs the items and answers them, or says why `run` failed and answers none. */
  async function attempt(batch: readonly Place[]): Promise<{ readonly cause: unknown } | undefined> {
    let results: readonly Result[];
    try {
      const items = batch.map((entry) => entry.item);
      results = await (observer === undefined ? run(items) : observedRun(observer, batch, () => run(items)));
    } catch (cause) {
      return { cause };
    }
    if (results.length !== batch.length) {
      // A bug in `run`, and it has had its effect: no result can be told to be anyone's, and nothing may run twice.
      rejectAll(batch, new Error(`${name}: run answered ${results.length} results for ${batch.length} items`));
      return undefined;
    }
    for (let index = 0; index < batch.length; index += 1) {
      const entry = batch[index] as Place;
      if (!entry.isAnswered) {
        answered(entry);
        entry.resolve(results[index] as Result);
      }
    }
    return undefined;
  }

  function observedRun<Results>(by: CoalescerObserver, batch: readonly Place[], work: () => Promise<Results>) {
    const items = batch.flatMap(({ observed }) => observed ?? []);
    return by.onRun({ name, size: batch.length, items }, work);
  }

  function mayIsolate(error: unknown): boolean {
    return typeof isolate === 'function' ? isolate(error) : isolate;
  }

  function rejectAll(batch: readonly Place[], error: unknown): void {
    for (const entry of batch) rejectOne(entry, error);
  }

  function rejectOne(entry: Place, error: unknown): void {
    if (entry.isAnswered) return;
    answered(entry, error);
    entry.reject(error);
  }

  function answered(entry: Place, error?: unknown): void {
    entry.isAnswered = true;
    entry.observed?.onAnswer(error);
    if (entry.onAbort !== undefined) entry.signal?.removeEventListener('abort', entry.onAbort);
  }

  function listen(entry: Place, signal: AbortSignal): void {
    entry.onAbort = () => rejectOne(entry, signal.reason);
    signal.addEventListener('abort', entry.onAbort, { once: true });
  }

  // One timer for all deadlines, at the earliest. Items are done long before they are due, so it finds most of them gone.

  function sweepNoLaterThan(at: number): void {
    clearTimeout(sweepTimer);
    sweepAt = at;
    sweepTimer = setTimeout(sweep, Math.min(Math.max(at - Date.now(), 0), MAX_TIMER_MS));
    sweepTimer.unref();
  }

  function sweep(): void {
    const now = Date.now();
    let earliest = Number.POSITIVE_INFINITY;
    const visit = (entry: Place) => {
      if (entry.isAnswered) return;
      if (entry.deadlineAt <= now) rejectOne(entry, pastDeadline());
      else if (entry.deadlineAt < earliest) earliest = entry.deadlineAt;
    };
    const visitChain = (first: Place) => {
      for (let entry: Place | undefined = first; entry !== undefined; entry = entry.next) visit(entry);
    };
    for (const batch of batches) for (const entry of batch) visitChain(entry);
    for (let index = readyFrom; index < ready.length; index += 1) visitChain(ready[index] as Place);
    sweepAt = Number.POSITIVE_INFINITY;
    if (earliest < sweepAt) sweepNoLaterThan(earliest);
  }

  function pastDeadline(): ItemDeadlineError {
    return new ItemDeadlineError(`${name}: the deadline of the item has passed`);
  }

  function isIdle(): boolean {
    return queued === 0 && batches.size === 0;
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
      return queued;
    },
  };
}
