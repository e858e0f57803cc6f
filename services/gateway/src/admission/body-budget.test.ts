import { metrics } from '@laurel/telemetry';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createBodyBudget } from './body-budget.ts';

const KIB = 1024;

/** The bytes in use by all budgets of this process. */
async function heldBytes(): Promise<number> {
  const text = await metrics.getSingleMetricAsString('laurel_body_bytes_in_flight');
  return Number(/ (\d+)$/.exec(text)?.[1]);
}

test('one holder may use at most a quarter of the body budget', () => {
  const budget = createBodyBudget(800 * KIB);
  expect(budget.take('one', 200 * KIB, 200 * KIB)).toBe(true);
  expect(budget.take('one', 1, 1)).toBe(false);
  expect(budget.take('other', 1, 1)).toBe(true);
  budget.release('one', 1);
  expect([budget.take('one', 2, 2), budget.take('one', 1, 1)]).toEqual([false, true]);
});

test('large bodies leave an eighth of the body budget to the small ones', () => {
  const budget = createBodyBudget(800 * KIB);
  for (const holder of ['a', 'b', 'c', 'd']) expect(budget.take(holder, 175 * KIB, 175 * KIB)).toBe(true);
  expect(budget.take('e', 21 * KIB, 21 * KIB)).toBe(false);
  expect(budget.take('e', 20 * KIB, 20 * KIB)).toBe(true);
  for (const holder of ['f', 'g', 'h', 'i']) expect(budget.take(holder, 20 * KIB, 20 * KIB)).toBe(true);
  expect(budget.take('j', 1, 1)).toBe(false);
});

test('a body that counts for two holders is admitted only if both have enough budget left', () => {
  const budget = createBodyBudget(800 * KIB, (holder) => holder.split(' ').map((name) => ({ name, share: 1 / 4 })));
  expect(budget.take('integration client', 200 * KIB, 200 * KIB)).toBe(true);
  expect(budget.take('integration other', 1, 1)).toBe(false);
  expect(budget.take('another client', 1, 1)).toBe(false);
  expect(budget.take('another other', 1, 1)).toBe(true);
  budget.release('integration client', 200 * KIB);
  expect(budget.take('integration other', 100 * KIB, 100 * KIB)).toBe(true);
  expect(budget.take('another client', 100 * KIB, 100 * KIB)).toBe(true);
});

test('each holder may use its own share of the body budget', () => {
  const budget = createBodyBudget(800 * KIB, (name) => [{ name, share: name === 'half' ? 1 / 2 : 1 / 8 }]);
  expect([budget.take('half', 400 * KIB, KIB), budget.take('half', 1, 1)]).toEqual([true, false]);
  expect([budget.take('eighth', 100 * KIB, KIB), budget.take('eighth', 1, 1)]).toEqual([true, false]);
});

test('the bytes taken from the body budget and released add up to zero', async () => {
  const move = fc.record({ holder: fc.constantFrom('a', 'b', 'c'), bytes: fc.integer({ min: 1, max: 4_000 }) });
  await fc.assert(
    fc.asyncProperty(fc.array(move, { maxLength: 60 }), async (moves) => {
      const budget = createBodyBudget(10_000);
      const heldBefore = await heldBytes();
      const taken = moves.filter(({ holder, bytes }) => budget.take(holder, bytes, bytes));
      const sum = taken.reduce((total, { bytes }) => total + bytes, 0);
      expect(sum).toBeLessThanOrEqual(10_000);
      expect(await heldBytes()).toBe(heldBefore + sum);
      for (const { holder, bytes } of taken) budget.release(holder, bytes);
      expect(await heldBytes()).toBe(heldBefore);
    }),
  );
});
