import { createCoalescer } from '@laurel/coalesce';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { metrics, publishOldestWaits } from './index.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

async function published(): Promise<Readonly<Record<string, number>>> {
  const lines = (await metrics.metrics()).matchAll(
    /^laurel_oldest_waiting_call_seconds\{queue="([^"]+)"[^}]*\} (\S+)$/gm,
  );
  return Object.fromEntries([...lines].map(([, queue, seconds]) => [queue, Number(seconds)]));
}

/**
 * A queue whose one lane is busy, with a second item waiting; `finish` ends the first batch and
 * later ones.
 */
function busyQueue(name: string, options: { readonly isOutgoing?: boolean; readonly gatherMs?: number } = {}) {
  const gate = Promise.withResolvers<void>();
  const coalescer = createCoalescer<number, number>({
    ...options,
    name,
    run: async (items) => {
      await gate.promise;
      return items;
    },
  });
  const first = coalescer.submit(1);
  return { coalescer, first, finish: gate.resolve };
}

test('the metrics page shows how long the oldest call of each queue has waited', async () => {
  publishOldestWaits();
  publishOldestWaits();
  const busy = busyQueue('test.busy');
  const idle = createCoalescer<number, number>({ name: 'test.idle', run: async (items) => items });
  await new Promise(setImmediate);
  const waiting = busy.coalescer.submit(2);
  vi.advanceTimersByTime(1_500);
  expect(await published()).toMatchObject({ 'test.busy': 1.5, 'test.idle': 0 });

  vi.advanceTimersByTime(500);
  expect(await published()).toMatchObject({ 'test.busy': 2 });
  busy.finish();
  await Promise.all([busy.first, waiting, idle.drain()]);
  expect(await published()).toMatchObject({ 'test.busy': 0, 'test.idle': 0 });
});

test('the metrics page shows the longer wait if two queues share a name', async () => {
  publishOldestWaits();
  const [long, short] = [busyQueue('test.twice'), busyQueue('test.twice')];
  await new Promise(setImmediate);
  const waiting = [long.coalescer.submit(2)];
  vi.advanceTimersByTime(2_000);
  waiting.push(short.coalescer.submit(2));
  vi.advanceTimersByTime(1_000);
  expect(await published()).toMatchObject({ 'test.twice': 3 });
  long.finish();
  short.finish();
  await Promise.all(waiting);
});

test('the metrics page omits queues of calls to other services', async () => {
  publishOldestWaits();
  const queues = [busyQueue('test.outgoing', { isOutgoing: true }), busyQueue('test.gathering', { gatherMs: 1 })];
  expect(Object.keys(await published()).filter((name) => /outgoing|gathering/.test(name))).toEqual([]);
  for (const { finish } of queues) finish();
  await Promise.all(queues.map(({ first }) => first));
});
