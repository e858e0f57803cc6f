import { expect, test } from 'vitest';
import { createPollBudget } from './poll-budget.ts';

const MIB = 1_048_576;
const PROGRAM_ID = '018f6f7e-2a6b-7c1d-9e3f-5a4b3c2d1e0f';

test.each([
  ['test', MIB],
  ['live', 16 * MIB],
] as const)(
  'in %s a program’s polls may read %i bytes a second, and two seconds’ worth at once',
  (environment, rate) => {
    const budget = createPollBudget();
    const tenant = { programId: PROGRAM_ID, environment };
    const mayPollAfter = (ms: number) => budget.mayPoll(tenant, new Date(ms));
    budget.take(tenant, 2 * rate - 1, new Date(0));
    expect(mayPollAfter(0)).toBe(true);
    budget.take(tenant, rate + 1, new Date(0));
    expect([mayPollAfter(999), mayPollAfter(1_001)]).toEqual([false, true]);
  },
);
