import { expect, test } from 'vitest';
import { dayLimitsOf } from './day-limits.ts';

const ACCOUNT = { count: 4, amount: '495.00', count_limit: 5, amount_limit: '500.00' };

function exceededBy(amount: string, account: Partial<typeof ACCOUNT>, limit = '9000.00'): readonly (boolean | null)[] {
  const program = { amount: '4990.00', amount_limit: limit };
  return dayLimitsOf({ amount, paid_24h: { account: { ...ACCOUNT, ...account }, program } }).map(
    ({ isExceeded }) => isExceeded,
  );
}

test('a payout exceeds a limit only if it takes the sum at least one cent above the limit', () => {
  expect(exceededBy('5.00', {})).toEqual([false, false, false]);
  expect(exceededBy('5.01', {})).toEqual([false, true, false]);
  expect(exceededBy('10.00', { amount: '0.00' }, '5000.00')).toEqual([false, false, false]);
  expect(exceededBy('10.01', { amount: '0.00' }, '5000.00')).toEqual([false, false, true]);
});

test('one payout too many exceeds only the limit on the number of payouts', () => {
  expect(exceededBy('5.00', { count: 5 })).toEqual([true, false, false]);
});

test('no payout exceeds the limits of a program that has none', () => {
  const program = { amount: '999999999.00', amount_limit: null };
  const [, , last] = dayLimitsOf({ amount: '5.00', paid_24h: { account: ACCOUNT, program } });
  expect(last).toEqual({
    what: 'Paid by the program, to every account',
    paid: '$999,999,999.00',
    limit: 'no limit',
    isExceeded: null,
  });
});
