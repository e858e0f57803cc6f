import fc from 'fast-check';
import { expect, test } from 'vitest';
import { deleteInBatches } from './delete-in-batches.ts';

test('rows are deleted in batches until a batch is not full', async () => {
  await fc.assert(
    fc.asyncProperty(fc.oneof(fc.nat(3_500), fc.constantFrom(999, 1_000, 1_001, 2_000)), async (rows) => {
      const batches: number[] = [];
      let left = rows;
      const total = await deleteInBatches(async (limit) => {
        const deleted = Math.min(limit, left);
        left -= deleted;
        batches.push(deleted);
        return deleted;
      });
      expect([total, left]).toEqual([rows, 0]);
      expect(batches).toHaveLength(Math.floor(rows / 1_000) + 1);
      expect(Math.max(...batches)).toBeLessThanOrEqual(1_000);
    }),
  );
});

test('a failed batch ends the run', async () => {
  const results = [1_000, new Error('database gone'), 1_000];
  const run = deleteInBatches(async () => {
    const next = results.shift();
    if (next instanceof Error) throw next;
    return next ?? 0;
  });
  await expect(run).rejects.toThrow('database gone');
  expect(results).toEqual([1_000]);
});
