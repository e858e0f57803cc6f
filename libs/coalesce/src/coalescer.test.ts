import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Coalescer, createCoalescer, ItemDeadlineError, observeCoalescers, QueueFullError } from './index.ts';

describe('a coalescer', () => {
  test('a coalescer sends the items of one turn of the event loop as one batch', async () => {
    const batches: (readonly number[])[] = [];
    const coalescer = createCoalescer({
      name: 'double',
      run: async (items: readonly number[]) => {
        batches.push(items);
        return items.map((item) => item * 2);
      },
    });
    expect(await Promise.all([1, 2, 3].map((item) => coalescer.submit(item)))).toEqual([2, 4, 6]);
    expect(await coalescer.submit(4)).toBe(8);
    expect(batches).toEqual([[1, 2, 3], [4]]);
  });

  test('a coalescer gathers the next batch while all lanes are busy', async () => {
    const gates: (() => void)[] = [];
    const sizes: number[] = [];
    const coalescer = createCoalescer({
      name: 'gather',
      lanes: 2,
      onBatch: (size) => sizes.push(size),
      run: async (items: readonly number[]) => {
        await new Promise<void>((resolve) => gates.push(resolve));
        return items;
      },
    });
    const answers = [coalescer.submit(0)];
    await turn();
    answers.push(coalescer.submit(1));
    await turn();
    for (const item of [2, 3, 4]) {
      answers.push(coalescer.submit(item));
      await turn();
    }
    expect([sizes, coalescer.queued]).toEqual([[1, 1], 3]);
    gates[0]?.();
    await turn();
    await turn();
    expect([sizes, coalescer.queued]).toEqual([[1, 1, 3], 0]);
    for (const open of gates) open();
    expect(await Promise.all(answers)).toEqual([0, 1, 2, 3, 4]);
  });

  test('one invalid item of a batch fails alone', async () => {
    const coalescer = createCoalescer({ name: 'picky', run: failOn(3) });
    const answers = await Promise.allSettled([1, 2, 3, 4].map((item) => coalescer.submit(item)));
    expect(answers.map((answer) => answer.status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
  });

  test('a failed batch without isolation rejects all of its items', async () => {
    let runs = 0;
    const coalescer = createCoalescer({
      name: 'whole',
      isolate: false,
      run: async (items: readonly number[]) => {
        runs += 1;
        return await failOn(3)(items);
      },
    });
    const answers = await Promise.allSettled([1, 2, 3, 4].map((item) => coalescer.submit(item)));
    expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set(['rejected']));
    expect(runs).toBe(1);
  });

  test('after an error that no item caused the items are not run one by one', async () => {
    const runs: (readonly number[])[] = [];
    const coalescer = createCoalescer({
      name: 'outage',
      isolate: (error) => !(error instanceof TypeError),
      run: async (items: readonly number[]) => {
        runs.push(items);
        if (items.length > 1) throw new Error('bad batch');
        throw new TypeError('out of reach');
      },
    });
    const answers = await Promise.allSettled([1, 2, 3].map((item) => coalescer.submit(item)));
    expect(answers.map((answer) => answer.status === 'rejected' && answer.reason.message)).toEqual(
      Array(3).fill('out of reach'),
    );
    expect(runs).toEqual([[1, 2, 3], [1]]);
  });

  test.each([0, 1, 3])('a run that returns %i results for a batch of two fails both items', async (count) => {
    let runs = 0;
    const coalescer = createCoalescer({
      name: 'miscount',
      run: async (_items: readonly number[]) => {
        runs += 1;
        return Array<number>(count).fill(0);
      },
    });
    const answers = await Promise.allSettled([coalescer.submit(1), coalescer.submit(2)]);
    const error = new Error(`miscount: run answered ${count} results for 2 items`);
    expect(answers).toEqual(Array(2).fill({ status: 'rejected', reason: error }));
    expect(runs).toBe(1);
  });

  test('a run that throws synchronously rejects its items', async () => {
    const coalescer = createCoalescer<number, number>({
      name: 'sync',
      run: () => {
        throw new Error('at once');
      },
    });
    await expect(coalescer.submit(1)).rejects.toThrow('at once');
    await coalescer.drain();
  });

  test('an item whose keyOf throws fails alone', async () => {
    const coalescer = createCoalescer({
      name: 'keyless',
      keyOf: (item: number) => {
        if (item === 1) throw new Error('no key');
        return String(item);
      },
      run: async (items) => items,
    });
    const answers = await Promise.allSettled([coalescer.submit(1), coalescer.submit(2)]);
    expect(answers).toEqual([
      { status: 'rejected', reason: new Error('no key') },
      { status: 'fulfilled', value: 2 },
    ]);
    await coalescer.drain();
  });

  test.each(['onBatch', 'isolate'] as const)(
    'a batch whose %s throws fails without blocking its lane',
    async (callback) => {
      let isBroken = true;
      const breaks = () => {
        if (isBroken) throw new Error('a bug');
        return true;
      };
      const coalescer = createCoalescer({
        name: 'callbacks',
        run: failOn(2),
        ...(callback === 'onBatch' ? { onBatch: breaks } : { isolate: breaks }),
      });
      const answers = await Promise.allSettled([coalescer.submit(1), coalescer.submit(2)]);
      expect(answers).toEqual(Array(2).fill({ status: 'rejected', reason: new Error('a bug') }));
      isBroken = false;
      expect(await coalescer.submit(3)).toBe(3);
      await coalescer.drain();
    },
  );

  test('every caller gets its answer although the observer throws', async () => {
    observeCoalescers({
      onSubmit: () => ({
        onAnswer: () => {
          throw new Error('a bug of the observer');
        },
      }),
      onRun: (_batch, run) => run(),
    });
    try {
      const coalescer = createCoalescer({ name: 'observed', run: async (items: readonly number[]) => items });
      const answers = await Promise.allSettled([coalescer.submit(1), coalescer.submit(2)]);
      expect(answers).toEqual([
        { status: 'fulfilled', value: 1 },
        { status: 'rejected', reason: new Error('a bug of the observer') },
      ]);
      await coalescer.drain();
      const another = { onSubmit: () => undefined, onRun: <Results>(_: object, run: () => Promise<Results>) => run() };
      expect(() => observeCoalescers(another)).toThrow('have an observer');
    } finally {
      observeCoalescers(undefined);
    }
  });

  test('a full queue refuses an item immediately', async () => {
    const { coalescer, release } = blocked({ maxQueued: 2 });
    const running = coalescer.submit(0);
    await turn();
    const waiting = [coalescer.submit(1), coalescer.submit(2)];
    await expect(coalescer.submit(3)).rejects.toBeInstanceOf(QueueFullError);
    release();
    expect(await Promise.all([running, ...waiting])).toEqual([0, 1, 2]);
  });

  test('an item is refused at its deadline, whether it waits or runs', async () => {
    const { coalescer, release, ran } = blocked({});
    const running = coalescer.submit(0, { deadlineAt: Date.now() + 20 });
    await turn();
    const waiting = coalescer.submit(1, { deadlineAt: Date.now() + 20 });
    const unhurried = coalescer.submit(2, { deadlineAt: Date.now() + 10_000 });
    await expect(coalescer.submit(3, { deadlineAt: Date.now() - 1 })).rejects.toBeInstanceOf(ItemDeadlineError);
    await expect(running).rejects.toBeInstanceOf(ItemDeadlineError);
    await expect(waiting).rejects.toBeInstanceOf(ItemDeadlineError);
    release();
    expect(await unhurried).toBe(2);
    expect(ran).toEqual([0, 2]);
  });

  test('an item with an earlier deadline is refused on time although it was submitted later', async () => {
    const { coalescer, release } = blocked({});
    const late = coalescer.submit(0, { deadlineAt: Date.now() + 60_000 });
    const early = coalescer.submit(1, { deadlineAt: Date.now() + 10 });
    await expect(early).rejects.toBeInstanceOf(ItemDeadlineError);
    release();
    expect(await late).toBe(0);
  });

  test('an aborted item is refused with the reason of its signal', async () => {
    const { coalescer, release, ran } = blocked({});
    const gone = new Error('the caller has gone');
    const controllers = [new AbortController(), new AbortController(), new AbortController()] as const;
    const running = coalescer.submit(0, { signal: controllers[0].signal });
    await turn();
    const waiting = coalescer.submit(1, { signal: controllers[1].signal });
    const unhurried = coalescer.submit(2, { signal: controllers[2].signal });
    controllers[0].abort(gone);
    controllers[1].abort(gone);
    await expect(running).rejects.toBe(gone);
    await expect(waiting).rejects.toBe(gone);
    await expect(coalescer.submit(3, { signal: AbortSignal.abort(gone) })).rejects.toBe(gone);
    release();
    expect(await unhurried).toBe(2);
    expect(ran).toEqual([0, 2]);
  });

  test('an aborted item does not block the next item of its key', async () => {
    const { coalescer, release, ran } = blocked({ keyOf: () => 'one' });
    const controller = new AbortController();
    const first = coalescer.submit(0);
    const second = coalescer.submit(1, { signal: controller.signal });
    const third = coalescer.submit(2);
    await turn();
    controller.abort(new Error('gone'));
    await expect(second).rejects.toThrow('gone');
    release();
    expect(await Promise.all([first, third])).toEqual([0, 2]);
    expect(ran).toEqual([0, 2]);
  });

  test('drain waits for every item, including items submitted during the drain', async () => {
    const { coalescer, release } = blocked({ maxItems: 1 });
    await coalescer.drain();
    const answered: number[] = [];
    const follow = coalescer
      .submit(0)
      .then((item) => answered.push(item))
      .then(() => coalescer.submit(9))
      .then((item) => answered.push(item));
    void coalescer.submit(1).then((item) => answered.push(item));
    let isDrained = false;
    const drained = coalescer.drain().then(() => {
      isDrained = true;
    });
    await turn();
    expect(isDrained).toBe(false);
    release();
    await drained;
    await follow;
    expect(answered).toEqual([0, 1, 9]);
    expect(coalescer.queued).toBe(0);
  });

  test('a coalescer with impossible limits throws', () => {
    expect(() => createCoalescer({ name: 'none', lanes: 0, run: async (items: readonly number[]) => items })).toThrow(
      RangeError,
    );
  });
});

describe('properties of a coalescer, over any arrivals, keys, limits, speeds and failures', () => {
  type Item = { readonly id: number; readonly key: string };

  const item = fc.record({
    key: fc.constantFrom('a', 'b', 'c', 'd'),
    isBad: fc.boolean(),
    /** When the caller's signal aborts: 0 at submit, 1 later, 2 never. */
    abort: fc.constantFrom(0, 1, 2, 2, 2, 2, 2, 2),
    turnsBefore: fc.constantFrom(0, 0, 0, 1, 2),
    turnsToRun: fc.nat(3),
  });
  const scenario = fc.record({
    items: fc.array(item, { maxLength: 60 }),
    maxItems: fc.integer({ min: 1, max: 7 }),
    lanes: fc.integer({ min: 1, max: 4 }),
    maxQueued: fc.constantFrom(3, 10, 1000),
    isKeyed: fc.boolean(),
    isolate: fc.boolean(),
  });

  test('each item is answered once with its own result, within all limits', async () => {
    await fc.assert(
      fc.asyncProperty(scenario, async ({ items, maxItems, lanes, maxQueued, isKeyed, isolate }) => {
        const violations: string[] = [];
        const must = (holds: boolean, law: string) => {
          if (!holds) violations.push(law);
        };
        const running: Item[] = [];
        let lanesUsed = 0;
        const started: Item[] = [];
        const succeeded = new Set<number>();
        const coalescer = createCoalescer({
          name: 'law',
          maxItems,
          lanes,
          maxQueued,
          isolate,
          ...(isKeyed ? { keyOf: ({ key }: Item) => key } : {}),
          run: async (batch: readonly Item[]) => {
            lanesUsed += 1;
            must(lanesUsed <= lanes, 'at most so many batches as lanes');
            must(batch.length > 0 && batch.length <= maxItems, 'a batch has one to maxItems items');
            running.push(...batch);
            must(!isKeyed || new Set(running.map(({ key }) => key)).size === running.length, 'a key runs alone');
            started.push(...batch);
            try {
              const turns = Math.max(...batch.map(({ id }) => items[id]?.turnsToRun ?? 0));
              for (let count = 0; count < turns; count += 1) await turn();
              if (batch.some(({ id }) => items[id]?.isBad)) throw new Error('bad item');
              for (const { id } of batch) succeeded.add(id);
              return batch.map(({ id }) => `answer ${id}`);
            } finally {
              lanesUsed -= 1;
              for (const done of batch) running.splice(running.indexOf(done), 1);
            }
          },
        });

        const answers: Promise<unknown>[] = [];
        let answered = 0;
        for (const [id, { key, abort, turnsBefore }] of items.entries()) {
          for (let count = 0; count < turnsBefore; count += 1) await turn();
          const controller = new AbortController();
          const answer = coalescer.submit({ id, key }, abort === 2 ? {} : { signal: controller.signal });
          answers.push(
            answer.then(
              (value) => {
                answered += 1;
                must(value === `answer ${id}` && succeeded.has(id), 'an answer is the own one');
              },
              (error) => {
                answered += 1;
                if (error instanceof QueueFullError)
                  must(!started.some((other) => other.id === id), 'a refused item never runs');
                else if (error.message === 'aborted') must(abort !== 2, 'only an aborted item is aborted');
                else
                  must(
                    error.message === 'bad item' && (!isolate || items[id]?.isBad === true),
                    'a bad item fails alone',
                  );
              },
            ),
          );
          if (abort === 0) controller.abort(new Error('aborted'));
          if (abort === 1) setImmediate(() => controller.abort(new Error('aborted')));
          expect(coalescer.queued).toBeLessThanOrEqual(maxQueued);
        }
        await coalescer.drain();
        expect([running, lanesUsed, coalescer.queued]).toEqual([[], 0, 0]);
        await Promise.all(answers);
        expect([answered, violations]).toEqual([items.length, []]);

        if (!isKeyed) return;
        // A replayed item starts twice; the order counts its first start.
        for (const wanted of ['a', 'b', 'c', 'd']) {
          const order = [...new Set(started.filter(({ key }) => key === wanted).map(({ id }) => id))];
          expect(order).toEqual(order.toSorted((left, right) => left - right));
        }
      }),
      { numRuns: 300 },
    );
  });

  test('an item with a deadline is answered by its deadline or by its run', async () => {
    const times = fc.record({ deadlineMs: fc.integer({ min: 1, max: 30 }), runMs: fc.integer({ min: 0, max: 15 }) });
    await fc.assert(
      fc.asyncProperty(fc.array(times, { maxLength: 12 }), async (items) => {
        const coalescer = createCoalescer({
          name: 'deadlines',
          maxItems: 3,
          run: async (batch: readonly { runMs: number }[]) => {
            await delay(Math.max(...batch.map(({ runMs }) => runMs)));
            return batch;
          },
        });
        const answers = items.map((one) =>
          coalescer.submit(one, { deadlineAt: Date.now() + one.deadlineMs }).then(
            (value) => value === one,
            (error) => error instanceof ItemDeadlineError,
          ),
        );
        expect(await Promise.all(answers)).toEqual(items.map(() => true));
        await coalescer.drain();
      }),
      { numRuns: 15 },
    );
  });
});

describe('a coalescer with gatherMs', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  /** Passes time by the millisecond, with some turns of the event loop in each. */
  async function pass(durationMs: number): Promise<void> {
    for (let passedMs = 0; ; passedMs += 1) {
      for (let count = 0; count < 4; count += 1) await turn();
      if (passedMs === durationMs) return;
      vi.advanceTimersByTime(1);
    }
  }

  /** Runs take `runMs`; `started` records which items ran when. */
  function gathering(options: { gatherMs: number; runMs?: number; maxItems?: number; lanes?: number }) {
    const { runMs = 0, ...limits } = options;
    const started: { readonly atMs: number; readonly items: readonly number[] }[] = [];
    const from = performance.now();
    const nowMs = () => Math.round(performance.now() - from);
    const coalescer = createCoalescer({
      name: 'gathering',
      ...limits,
      run: async (items: readonly number[]) => {
        started.push({ atMs: nowMs(), items });
        if (runMs > 0) await new Promise((resolve) => setTimeout(resolve, runMs));
        return items;
      },
    });
    const submitAll = (...items: readonly number[]) => Promise.all(items.map((item) => coalescer.submit(item)));
    return { coalescer, started, nowMs, submitAll };
  }

  test('a gathering coalescer sends the first item after a pause immediately', async () => {
    const { started, submitAll } = gathering({ gatherMs: 20 });
    void submitAll(1);
    await pass(5);
    void submitAll(2);
    await pass(5);
    void submitAll(3, 4);
    await pass(50);
    void submitAll(5);
    await pass(0);
    expect(started).toEqual([
      { atMs: 0, items: [1] },
      { atMs: 20, items: [2, 3, 4] },
      { atMs: 60, items: [5] },
    ]);
  });

  test('a full batch is sent without further gathering', async () => {
    const { started, submitAll } = gathering({ gatherMs: 20, maxItems: 3, lanes: 3 });
    void submitAll(1);
    await pass(4);
    void submitAll(2, 3, 4, 5, 6, 7, 8);
    await pass(40);
    expect(started).toEqual([
      { atMs: 0, items: [1] },
      { atMs: 4, items: [2, 3, 4] },
      { atMs: 4, items: [5, 6, 7] },
      { atMs: 24, items: [8] },
    ]);
  });

  test('gathering delays no item during a drain', async () => {
    const { coalescer, started, submitAll } = gathering({ gatherMs: 20, runMs: 1 });
    void submitAll(1);
    await pass(2);
    void submitAll(2);
    await pass(1);
    const drained = coalescer.drain();
    await pass(0);
    void submitAll(3);
    await pass(2);
    await drained;
    void submitAll(4);
    await pass(50);
    expect(started.map(({ atMs }) => atMs)).toEqual([0, 3, 4, 24]);
  });

  test('gathered batches that are not full start at least gatherMs apart', async () => {
    const scenario = fc.record({
      arrivals: fc.array(
        fc.record({ afterMs: fc.constantFrom(0, 0, 1, 3, 10, 40), items: fc.integer({ min: 1, max: 4 }) }),
        {
          maxLength: 30,
        },
      ),
      gatherMs: fc.integer({ min: 1, max: 30 }),
      runMs: fc.constantFrom(0, 0, 2, 25),
      maxItems: fc.constantFrom(1, 2, 5, 100),
      lanes: fc.integer({ min: 1, max: 3 }),
    });
    await fc.assert(
      fc.asyncProperty(scenario, async ({ arrivals, ...limits }) => {
        const { coalescer, started, nowMs } = gathering(limits);
        const arrivedAt: number[] = [];
        const answers: Promise<number>[] = [];
        for (const { afterMs, items } of arrivals) {
          await pass(afterMs);
          for (let count = 0; count < items; count += 1) {
            answers.push(coalescer.submit(arrivedAt.length));
            arrivedAt.push(nowMs());
          }
        }
        const drained = coalescer.drain();
        const drainedFrom = nowMs();
        await pass(0);
        while (coalescer.queued > 0) await pass(1);
        await pass(limits.runMs);
        await drained;
        expect(await Promise.all(answers)).toEqual(arrivedAt.map((_, item) => item));
        expect(started.flatMap(({ items }) => items)).toEqual(arrivedAt.map((_, item) => item));
        for (const [index, { atMs, items }] of started.entries()) {
          const before = started[index - 1]?.atMs ?? Number.NEGATIVE_INFINITY;
          const isFull = items.length === limits.maxItems;
          expect(isFull || atMs >= drainedFrom || atMs - before >= limits.gatherMs).toBe(true);
          if (limits.runMs > 0) continue;
          for (const item of items) expect(atMs - (arrivedAt[item] ?? 0)).toBeLessThanOrEqual(limits.gatherMs);
        }
        if (limits.runMs === 0) for (const { atMs } of started) expect(atMs).toBeLessThanOrEqual(drainedFrom);
      }),
      { numRuns: 60 },
    );
  });
});

function failOn(bad: number) {
  return async (items: readonly number[]): Promise<readonly number[]> => {
    if (items.includes(bad)) throw new Error(`cannot do ${bad}`);
    return items;
  };
}

/** One lane, which ends no run before `release`. */
function blocked(limits: { maxQueued?: number; maxItems?: number; keyOf?: (item: number) => string }): {
  coalescer: Coalescer<number, number>;
  release: () => void;
  ran: number[];
} {
  let release = () => {};
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  const ran: number[] = [];
  const run = async (items: readonly number[]) => {
    ran.push(...items);
    await gate;
    return items;
  };
  return { coalescer: createCoalescer({ name: 'blocked', run, ...limits }), release, ran };
}
