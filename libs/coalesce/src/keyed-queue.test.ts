import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Entry, rejectEntry, resolveEntry } from './entry.ts';
import { BrokenInvariantError } from './errors.ts';
import { KeyedQueue } from './keyed-queue.ts';

interface Answers {
  readonly results: number[];
  readonly errors: unknown[];
}

function entryOf(item: number, key?: string): Entry<number, number> & Answers {
  const answers: Answers = { results: [], errors: [] };
  return {
    ...answers,
    item,
    key,
    resolve: (result) => void answers.results.push(result),
    reject: (error) => void answers.errors.push(error),
    submittedAt: performance.now(),
    deadlineAt: Number.POSITIVE_INFINITY,
    signal: undefined,
    observed: undefined,
    state: 'submitted',
    isAnswered: false,
    onAbort: undefined,
    next: undefined,
  };
}

const itemsOf = (entries: readonly Entry<number, number>[]) => entries.map(({ item }) => item);

test('an item that is queued already is not queued again', () => {
  const queue = new KeyedQueue<number, number>();
  const entry = entryOf(1);
  queue.add(entry);
  expect(() => queue.add(entry)).toThrow(BrokenInvariantError);
});

test('an item that does not run cannot end its run, and one that ran ends it once', () => {
  const queue = new KeyedQueue<number, number>();
  const entry = entryOf(1);
  queue.add(entry);
  expect(() => queue.finish(entry)).toThrow('an item that is ready cannot go from running to done');
  queue.take(1);
  resolveEntry(entry, 1);
  queue.finish(entry);
  expect(() => queue.finish(entry)).toThrow('an item that is done cannot go from running to done');
});

test('a run cannot end before the caller of its item has an answer', () => {
  const queue = new KeyedQueue<number, number>();
  const entry = entryOf(1);
  queue.add(entry);
  queue.take(1);
  expect(() => queue.finish(entry)).toThrow('its caller has no answer');
});

describe('the oldest wait of a queue', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['performance'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test('is 0 while nothing waits, and ignores items that run or are answered', () => {
    const queue = new KeyedQueue<number, number>();
    const [running, answered] = [entryOf(1), entryOf(2)];
    queue.add(running);
    queue.take(1);
    queue.add(answered);
    rejectEntry(answered, 'past its deadline');
    vi.advanceTimersByTime(10);
    expect(queue.oldestWaitMs).toBe(0);
    queue.add(entryOf(3));
    vi.advanceTimersByTime(7);
    expect(queue.oldestWaitMs).toBe(7);
  });

  test('counts from the submission of an item, even if it waited for its key and stands behind younger ones', () => {
    const queue = new KeyedQueue<number, number>();
    const first = entryOf(1, 'a');
    queue.add(first);
    queue.take(1);
    queue.add(entryOf(2, 'a'));
    vi.advanceTimersByTime(10);
    queue.add(entryOf(3));
    vi.advanceTimersByTime(5);
    expect(queue.oldestWaitMs).toBe(5);
    resolveEntry(first, 1);
    queue.finish(first);
    expect(itemsOf([...queue.entries()])).toEqual([3, 2]);
    expect(queue.oldestWaitMs).toBe(15);
  });
});

test('the first answer of an item counts, and a later one changes nothing', () => {
  const entry = entryOf(1);
  rejectEntry(entry, 'too late');
  resolveEntry(entry, 1);
  rejectEntry(entry, 'again');
  expect([entry.results, entry.errors]).toEqual([[], ['too late']]);
});

test('the keyed queue hands out what a list with locked keys would, over any adds, takes, early answers and ends of runs', () => {
  const command = fc.oneof(
    fc.record({ kind: fc.constant('add' as const), key: fc.constantFrom(undefined, 'a', 'b', 'c') }),
    fc.record({ kind: fc.constant('take' as const), max: fc.integer({ min: 1, max: 4 }) }),
    fc.record({ kind: fc.constant('finish' as const), index: fc.nat(9) }),
    fc.record({ kind: fc.constant('abort' as const), index: fc.nat(9) }),
  );
  fc.assert(
    fc.property(fc.array(command, { maxLength: 80 }), (commands) => {
      const queue = new KeyedQueue<number, number>();
      const all: Entry<number, number>[] = [];
      let queued: Entry<number, number>[] = [];
      let running: Entry<number, number>[] = [];
      for (const one of commands) {
        if (one.kind === 'add') {
          const entry = entryOf(all.length, one.key);
          all.push(entry);
          queued.push(entry);
          queue.add(entry);
        } else if (one.kind === 'take') {
          const batch = queue.take(one.max);
          expect(batch.length).toBeLessThanOrEqual(one.max);
          const keys = [...running, ...batch].flatMap(({ key }) => key ?? []);
          expect(new Set(keys).size).toBe(keys.length);
          // Items of one key never overtake: any that are still before a running item were answered
          // early.
          for (const entry of batch) {
            expect(entry.isAnswered).toBe(false);
            if (entry.key === undefined) continue;
            const before = queued.filter(({ item, key }) => key === entry.key && item < entry.item);
            expect(itemsOf(before.filter(({ isAnswered }) => !isAnswered))).toEqual([]);
          }
          running.push(...batch);
          queued = queued.filter(({ state }) => state === 'ready' || state === 'waiting');
        } else if (one.kind === 'finish') {
          const entry = running[one.index];
          if (entry === undefined) continue;
          resolveEntry(entry, entry.item);
          queue.finish(entry);
          running = running.filter((other) => other !== entry);
        } else {
          const entry = queued[one.index];
          if (entry !== undefined) rejectEntry(entry, 'aborted');
        }
        expect(queue.count).toBe(queued.length);
        expect(itemsOf([...queue.entries()].filter(({ state }) => state !== 'running')).sort()).toEqual(
          itemsOf(queued.filter((entry) => entry.state === 'ready' || !isBehindRunning(entry, running))).sort(),
        );
      }
    }),
  );
});

/** While the first item of a key runs, the others are chained to it and not in the queue. */
function isBehindRunning({ key }: Entry<number, number>, running: readonly Entry<number, number>[]): boolean {
  return key !== undefined && running.some((other) => other.key === key);
}
