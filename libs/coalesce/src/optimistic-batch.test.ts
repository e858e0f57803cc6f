import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runOptimisticBatch } from './optimistic-batch.ts';

type Answer = { readonly by: 'optimistic' | 'lock'; readonly request: string };
const requests = fc.array(fc.record({ request: fc.string(), holds: fc.boolean() }), { maxLength: 30 });

describe('an optimistic batch', () => {
  it('an optimistic batch gives each request exactly one result, in order', async () => {
    await fc.assert(
      fc.asyncProperty(requests, async (batch) => {
        const asked: (readonly (typeof batch)[number][])[] = [];
        const results = await runOptimisticBatch<(typeof batch)[number], Answer>(batch, {
          optimistic: async (all) => all.map(({ request, holds }) => (holds ? { by: 'optimistic', request } : null)),
          underLock: async (rest) => {
            asked.push(rest);
            return rest.map(({ request }) => ({ by: 'lock', request }));
          },
        });
        expect(results).toEqual(batch.map(({ request, holds }) => ({ by: holds ? 'optimistic' : 'lock', request })));
        const left = batch.filter(({ holds }) => !holds);
        expect(asked).toEqual(left.length === 0 ? [] : [left]);
      }),
    );
  });

  it('an optimistic batch distinguishes two requests that are the same object', async () => {
    const request = { id: 1 };
    let tries = 0;
    const results = await runOptimisticBatch<typeof request, { nth: number }>([request, request], {
      optimistic: async (all) => all.map((_, index) => (index === 0 ? { nth: 1 } : null)),
      underLock: async (rest) => {
        tries += rest.length;
        return rest.map(() => ({ nth: 2 }));
      },
    });
    expect(results).toEqual([{ nth: 1 }, { nth: 2 }]);
    expect(tries).toBe(1);
  });

  it.each([0, 1, 3])(
    'a batch of two requests fails as a whole if the optimistic write returns %i results',
    async (count) => {
      const run = runOptimisticBatch<number, object>([1, 2], {
        optimistic: async () => Array<null>(count).fill(null),
        underLock: () => Promise.reject(new Error('asked under lock')),
      });
      await expect(run).rejects.toThrow(`the optimistic write has ${count} results for 2 requests`);
    },
  );

  it.each([0, 1, 3])(
    'a batch of two requests fails as a whole if the decision under lock returns %i results',
    async (count) => {
      const run = runOptimisticBatch<number, object>([1, 2], {
        optimistic: async (all) => all.map(() => null),
        underLock: async () => Array<object>(count).fill({}),
      });
      await expect(run).rejects.toThrow(`the decision under lock has ${count} results for 2 requests`);
    },
  );

  it('an optimistic batch fails with the error of either write', async () => {
    const optimistic = () => Promise.reject(new Error('no connection'));
    const underLock = async () => [];
    await expect(runOptimisticBatch<number, object>([1], { optimistic, underLock })).rejects.toThrow('no connection');
    await expect(
      runOptimisticBatch<number, object>([1], { optimistic: async () => [null], underLock: optimistic }),
    ).rejects.toThrow('no connection');
  });
});
