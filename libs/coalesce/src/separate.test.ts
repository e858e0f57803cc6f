import { expect, test } from 'vitest';
import { createCoalescer } from './coalescer.ts';
import { createCoalescersByEnvironment, createSeparateCoalescers } from './separate.ts';

test('an item waits for no item of another group', async () => {
  const batches: string[][] = [];
  const held = Promise.withResolvers<void>();
  const coalescer = createSeparateCoalescers<string, string, 'live' | 'test'>({
    groups: ['live', 'test'],
    groupOf: (item) => (item.startsWith('l') ? 'live' : 'test'),
    create: (group) =>
      createCoalescer({
        name: group,
        maxItems: 2,
        run: async (items) => {
          batches.push([...items]);
          if (group === 'test') await held.promise;
          return items;
        },
      }),
  });
  const flood = ['t1', 't2', 't3'].map((item) => coalescer.submit(item));
  expect(await Promise.all(['l1', 'l2', 'l3'].map((item) => coalescer.submit(item)))).toEqual(['l1', 'l2', 'l3']);
  expect(coalescer.queued).toBe(1);
  held.resolve();
  expect(await Promise.all(flood)).toEqual(['t1', 't2', 't3']);
  await coalescer.drain();
  expect(coalescer.queued).toBe(0);
  expect(batches.map((batch) => batch.join())).toEqual(expect.arrayContaining(['t1,t2', 't3', 'l1,l2', 'l3']));
});

test('no batch mixes live and test items', async () => {
  const batches: string[][] = [];
  const coalescer = createCoalescersByEnvironment<'live' | 'test', string>({
    environmentOf: (item) => item,
    create: () =>
      createCoalescer({
        name: 'by environment',
        run: async (items) => {
          batches.push([...items]);
          return items;
        },
      }),
  });
  await Promise.all((['live', 'test', 'live', 'test'] as const).map((item) => coalescer.submit(item)));
  expect(batches.toSorted()).toEqual([
    ['live', 'live'],
    ['test', 'test'],
  ]);
});

test('a batch exceeds the weight limit only if a single item does', async () => {
  const batches: number[][] = [];
  const coalescer = createCoalescer<number, number>({
    name: 'weighed',
    maxWeight: 10,
    weightOf: (item) => item,
    run: async (items) => {
      batches.push([...items]);
      return items;
    },
  });
  await Promise.all([4, 6, 1, 25, 9, 1, 1].map((item) => coalescer.submit(item)));
  expect(batches).toEqual([[4, 6], [1], [25], [9, 1], [1]]);
});
