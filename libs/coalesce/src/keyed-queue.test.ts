import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { BrokenInvariantError } from './errors.ts';
import { KeyedQueue } from './keyed-queue.ts';
import { rejectSubmission, resolveSubmission, type Submission } from './submission.ts';

interface Answers {
  readonly results: number[];
  readonly errors: unknown[];
}

function submissionOf(item: number, key?: string): Submission<number, number> & Answers {
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

const itemsOf = (submissions: readonly Submission<number, number>[]) => submissions.map(({ item }) => item);

test('a queued item is not queued again', () => {
  const queue = new KeyedQueue<number, number>();
  const submission = submissionOf(1);
  queue.add(submission);
  expect(() => queue.add(submission)).toThrow(BrokenInvariantError);
});

test('the run of an item ends only once', () => {
  const queue = new KeyedQueue<number, number>();
  const submission = submissionOf(1);
  queue.add(submission);
  expect(() => queue.finish(submission)).toThrow('an item that is ready cannot go from running to done');
  queue.take(1);
  resolveSubmission(submission, 1);
  queue.finish(submission);
  expect(() => queue.finish(submission)).toThrow('an item that is done cannot go from running to done');
});

test('a run cannot end before the caller of its item has an answer', () => {
  const queue = new KeyedQueue<number, number>();
  const submission = submissionOf(1);
  queue.add(submission);
  queue.take(1);
  expect(() => queue.finish(submission)).toThrow('its caller has no answer');
});

describe('the oldest wait of a queue', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['performance'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test('the oldest wait ignores items that run or are answered', () => {
    const queue = new KeyedQueue<number, number>();
    const [running, answered] = [submissionOf(1), submissionOf(2)];
    queue.add(running);
    queue.take(1);
    queue.add(answered);
    rejectSubmission(answered, 'past its deadline');
    vi.advanceTimersByTime(10);
    expect(queue.oldestWaitMs).toBe(0);
    queue.add(submissionOf(3));
    vi.advanceTimersByTime(7);
    expect(queue.oldestWaitMs).toBe(7);
  });

  test('the oldest wait counts from the submission of an item, even if newer items are ahead in the queue', () => {
    const queue = new KeyedQueue<number, number>();
    const first = submissionOf(1, 'a');
    queue.add(first);
    queue.take(1);
    queue.add(submissionOf(2, 'a'));
    vi.advanceTimersByTime(10);
    queue.add(submissionOf(3));
    vi.advanceTimersByTime(5);
    expect(queue.oldestWaitMs).toBe(5);
    resolveSubmission(first, 1);
    queue.finish(first);
    expect(itemsOf([...queue.submissions()])).toEqual([3, 2]);
    expect(queue.oldestWaitMs).toBe(15);
  });
});

test('only the first answer of an item counts', () => {
  const submission = submissionOf(1);
  rejectSubmission(submission, 'too late');
  resolveSubmission(submission, 1);
  rejectSubmission(submission, 'again');
  expect([submission.results, submission.errors]).toEqual([[], ['too late']]);
});

test('the keyed queue hands out the same items as a list with locked keys', () => {
  const command = fc.oneof(
    fc.record({ kind: fc.constant('add' as const), key: fc.constantFrom(undefined, 'a', 'b', 'c') }),
    fc.record({ kind: fc.constant('take' as const), max: fc.integer({ min: 1, max: 4 }) }),
    fc.record({ kind: fc.constant('finish' as const), index: fc.nat(9) }),
    fc.record({ kind: fc.constant('abort' as const), index: fc.nat(9) }),
  );
  fc.assert(
    fc.property(fc.array(command, { maxLength: 80 }), (commands) => {
      const queue = new KeyedQueue<number, number>();
      const all: Submission<number, number>[] = [];
      let queued: Submission<number, number>[] = [];
      let running: Submission<number, number>[] = [];
      for (const one of commands) {
        if (one.kind === 'add') {
          const submission = submissionOf(all.length, one.key);
          all.push(submission);
          queued.push(submission);
          queue.add(submission);
        } else if (one.kind === 'take') {
          const batch = queue.take(one.max);
          expect(batch.length).toBeLessThanOrEqual(one.max);
          const keys = [...running, ...batch].flatMap(({ key }) => key ?? []);
          expect(new Set(keys).size).toBe(keys.length);
          // Items of one key never overtake each other: an item that is still before a running one
          // was answered early.
          for (const submission of batch) {
            expect(submission.isAnswered).toBe(false);
            if (submission.key === undefined) continue;
            const before = queued.filter(({ item, key }) => key === submission.key && item < submission.item);
            expect(itemsOf(before.filter(({ isAnswered }) => !isAnswered))).toEqual([]);
          }
          running.push(...batch);
          queued = queued.filter(({ state }) => state === 'ready' || state === 'waiting');
        } else if (one.kind === 'finish') {
          const submission = running[one.index];
          if (submission === undefined) continue;
          resolveSubmission(submission, submission.item);
          queue.finish(submission);
          running = running.filter((other) => other !== submission);
        } else {
          const submission = queued[one.index];
          if (submission !== undefined) rejectSubmission(submission, 'aborted');
        }
        expect(queue.count).toBe(queued.length);
        expect(itemsOf([...queue.submissions()].filter(({ state }) => state !== 'running')).sort()).toEqual(
          itemsOf(queued.filter((each) => each.state === 'ready' || !isBehindRunning(each, running))).sort(),
        );
      }
    }),
  );
});

/** While the first item of a key runs, the others are chained to it and not in the queue. */
function isBehindRunning({ key }: Submission<number, number>, running: readonly Submission<number, number>[]): boolean {
  return key !== undefined && running.some((other) => other.key === key);
}
