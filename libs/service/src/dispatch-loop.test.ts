import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { createDispatchLoop } from './dispatch-loop.ts';
import { createLogger } from './logger.ts';

const logged: string[] = [];
const logger = createLogger({ service: 'test', level: 'info', destination: { write: (line) => logged.push(line) } });

beforeEach(() => {
  logged.length = 0;
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  return () => void vi.useRealTimers();
});

/** A loop over jobs, one slot each, whose leases and runs end when the test says so. */
function start({ slots = 4 } = {}) {
  const waiting: string[] = [];
  const leases: { readonly jobs: readonly string[]; readonly end: PromiseWithResolvers<void> }[] = [];
  const running: { readonly job: string; readonly end: PromiseWithResolvers<void> }[] = [];
  const begun: string[] = [];
  let free = slots;

  const loop = createDispatchLoop<string>({
    name: 'jobs',
    logger,
    allocate() {
      const jobs = waiting.splice(0, free);
      free -= jobs.length;
      return jobs;
    },
    async lease(jobs) {
      const end = Promise.withResolvers<void>();
      leases.push({ jobs, end });
      try {
        await end.promise;
      } catch (error) {
        free += jobs.length;
        waiting.unshift(...jobs);
        throw error;
      } finally {
        leases.shift();
      }
      return jobs.map(run);
    },
  });

  async function run(job: string): Promise<void> {
    const end = Promise.withResolvers<void>();
    running.push({ job, end });
    begun.push(job);
    await end.promise;
    free += 1;
    loop.wake();
  }

  return {
    loop,
    leases,
    running,
    begun,
    add(...jobs: readonly string[]) {
      waiting.push(...jobs);
      loop.wake();
    },
    endRun(which = 0) {
      const [ended] = running.splice(which % Math.max(1, running.length), 1);
      ended?.end.resolve();
    },
  };
}

async function isOver(promise: PromiseLike<unknown>): Promise<boolean> {
  let over = false;
  void promise.then(() => {
    over = true;
  });
  await turn();
  return over;
}

describe('a dispatch loop', () => {
  test('one lease covers all work that wakes the loop in one turn', async () => {
    const { add, leases } = start();
    add('a');
    add('b', 'c');
    expect(leases).toEqual([]);
    await turn();
    expect(leases.map(({ jobs }) => jobs)).toEqual([['a', 'b', 'c']]);
  });

  test('the next lease takes the slots that become free during a lease', async () => {
    const { add, leases, endRun, running } = start({ slots: 2 });
    add('a', 'b', 'c', 'd');
    await turn();
    leases[0]?.end.resolve();
    await turn();
    endRun();
    await turn();
    await turn();
    expect(leases.map(({ jobs }) => jobs)).toEqual([['c']]);
    endRun();
    await turn();
    expect(leases).toHaveLength(1);
    leases[0]?.end.resolve();
    await turn();
    expect(leases.map(({ jobs }) => jobs)).toEqual([['d']]);
    expect(running.map(({ job }) => job)).toEqual(['c']);
  });

  test('a failed lease is logged and repeated half a second later', async () => {
    const { add, leases, begun } = start();
    add('a');
    await turn();
    leases[0]?.end.reject(new Error('database gone'));
    await turn();
    add('b');
    await vi.advanceTimersByTimeAsync(499);
    await turn();
    expect(leases).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    await turn();
    expect(leases.map(({ jobs }) => jobs)).toEqual([['a', 'b']]);
    leases[0]?.end.resolve();
    await turn();
    expect(begun).toEqual(['a', 'b']);
    expect(logged.map((line) => JSON.parse(line))).toMatchObject([
      { level: 'error', allocated: 1, err: { message: 'database gone' }, msg: 'jobs could not be leased' },
    ]);
  });

  test('a wake right after the loop looked for work is not lost', async () => {
    const waiting: string[] = [];
    const leased: string[] = [];
    let isFirstLook = true;
    const loop = createDispatchLoop<string>({
      name: 'jobs',
      logger,
      allocate() {
        if (isFirstLook) {
          queueMicrotask(() => {
            waiting.push('late');
            loop.wake();
          });
        }
        isFirstLook = false;
        return waiting.splice(0);
      },
      async lease(jobs) {
        leased.push(...jobs);
        return [];
      },
    });
    loop.wake();
    await loop.whenIdle();
    expect(leased).toEqual(['late']);
  });

  test('the loop is idle when the lease and every run have ended', async () => {
    const { loop, add, leases, endRun } = start({ slots: 1 });
    await loop.whenIdle();
    add('a', 'b');
    const idle = loop.whenIdle();
    for (let job = 0; job < 2; job += 1) {
      await turn();
      expect(await isOver(idle)).toBe(false);
      leases[0]?.end.resolve();
      await turn();
      expect(await isOver(idle)).toBe(false);
      endRun();
    }
    await turn();
    expect(await isOver(idle)).toBe(true);
  });

  test('a stopping loop completes its lease and runs, but starts no other lease', async () => {
    const { loop, add, leases, endRun, begun } = start({ slots: 1 });
    add('a', 'b');
    await turn();
    const ended = loop[Symbol.asyncDispose]();
    expect(loop.isStopping).toBe(true);
    leases[0]?.end.resolve();
    expect(await isOver(ended)).toBe(false);
    endRun();
    await turn();
    expect(await isOver(ended)).toBe(true);
    add('c');
    await turn();
    expect([leases, begun]).toEqual([[], ['a']]);
  });

  test('a stopping loop does not wait for the pause after a failure', async () => {
    const failed = start();
    failed.add('a');
    await turn();
    failed.leases[0]?.end.reject(new Error('database gone'));
    await turn();
    await failed.loop[Symbol.asyncDispose]();
    const woken = start();
    woken.add('a');
    await woken.loop[Symbol.asyncDispose]();
    expect([failed.leases, failed.begun, woken.leases, woken.begun]).toEqual([[], [], [], []]);
  });
});

test('each job runs exactly once, with one lease at a time', async () => {
  const step = fc.oneof(
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('add' as const), jobs: fc.integer({ min: 1, max: 5 }) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('wake' as const) }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('lease' as const), fails: fc.boolean() }) },
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('end' as const), which: fc.nat() }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('turn' as const) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('time' as const), ms: fc.constantFrom(1, 499, 500) }) },
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 60 }),
      fc.integer({ min: 1, max: 4 }),
      fc.boolean(),
      async (steps, slots, isDrained) => {
        const { loop, add, leases, endRun, running, begun } = start({ slots });
        let added = 0;
        function check() {
          expect(leases.length).toBeLessThanOrEqual(1);
          expect(running.length + (leases[0]?.jobs.length ?? 0)).toBeLessThanOrEqual(slots);
          expect(new Set(begun).size).toBe(begun.length);
        }
        for (const next of steps) {
          if (next.kind === 'add') {
            for (let job = 0; job < next.jobs; job += 1) {
              add(`${added}`);
              added += 1;
            }
          }
          if (next.kind === 'wake') loop.wake();
          if (next.kind === 'lease' && next.fails) leases[0]?.end.reject(new Error('database gone'));
          if (next.kind === 'lease' && !next.fails) leases[0]?.end.resolve();
          if (next.kind === 'end') endRun(next.which);
          if (next.kind === 'turn') await turn();
          if (next.kind === 'time') await vi.advanceTimersByTimeAsync(next.ms);
          check();
        }
        const ended = isDrained ? loop.whenIdle() : loop[Symbol.asyncDispose]();
        const begunBefore = new Set([...begun, ...leases.flatMap(({ jobs }) => jobs)]);
        while (!(await isOver(ended))) {
          leases[0]?.end.resolve();
          endRun();
          await vi.advanceTimersByTimeAsync(500);
          check();
        }
        expect([leases, running]).toEqual([[], []]);
        // After whenIdle, every added job has begun. After disposal, no job has begun that was not
        // begun or being leased when the disposal started.
        if (isDrained) expect(begun.toSorted()).toEqual(Array.from({ length: added }, (_, job) => `${job}`).toSorted());
        else for (const job of begun) expect(begunBefore).toContain(job);
        await loop[Symbol.asyncDispose]();
      },
    ),
  );
});
