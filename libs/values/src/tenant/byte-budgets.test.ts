import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createByteBudgets, createTenantBudgets } from './byte-budgets.ts';

test('a program has one budget per environment', () => {
  const budgets = createTenantBudgets({ test: 100, live: 1_000 });
  const [one, other] = [{ programId: 'one' }, { programId: 'other' }];
  budgets.take({ ...one, environment: 'test' }, 200, 0);
  expect(budgets.waitFor({ ...one, environment: 'test' }, 100, 0)).toBe(1_000);
  expect(budgets.waitFor({ ...one, environment: 'live' }, 2_000, 0)).toBe(0);
  expect(budgets.waitFor({ ...other, environment: 'test' }, 200, 0)).toBe(0);
  expect(budgets.limitOf({ ...one, environment: 'live' })).toBe(1_000);
});

test('a budget refuses bodies until the debt of a body that cost more than announced is repaid', () => {
  const budgets = createByteBudgets(100);
  budgets.take('a', 700, 0);
  expect(budgets.waitFor('a', 100, 0)).toBe(6_000);
  expect(budgets.waitFor('a', 100, 6_000)).toBe(0);
});

test('a full budget admits a body larger than the budget', () => {
  const budgets = createByteBudgets(100);
  expect(budgets.waitFor('a', 10_000, 0)).toBe(0);
  budgets.take('a', 1, 0);
  expect(budgets.waitFor('a', 10_000, 0)).toBe(10);
});

test('the admitted bodies of any period cost little more than the budget of that period', () => {
  const use = fc.record({ afterMs: fc.nat(400), announced: fc.integer({ min: 1, max: 300 }), found: fc.nat(500) });
  fc.assert(
    fc.property(fc.array(use), (uses) => {
      const budgets = createByteBudgets(1_000);
      let [now, cost] = [0, 0];
      for (const { afterMs, announced, found } of uses) {
        now += afterMs;
        if (budgets.waitFor('a', announced, now) > 0) continue;
        budgets.take('a', announced, now);
        budgets.take('a', found, now);
        cost += announced + found;
      }
      expect(cost).toBeLessThanOrEqual(2_000 + now + 500);
    }),
  );
});

test('a subject in debt is not forgotten, however many others are known', () => {
  const budgets = createByteBudgets(100);
  budgets.take('debtor', 10_000, 0);
  for (let index = 0; index < 50_000; index += 1) budgets.take(`s${index}`, 1, index);
  expect(budgets.waitFor('debtor', 100, 50_000)).toBeGreaterThan(0);
});
