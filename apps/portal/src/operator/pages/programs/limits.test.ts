import { expect, test } from 'vitest';
import { changedLimits } from './limits.ts';

const PRESENT = { payout_limit: '5000.00', fee_limit: null };

test('the request contains only the limit whose field was changed', () => {
  expect(changedLimits(PRESENT, { payout: '100.00', fee: '' })).toEqual({ payout_limit: '100.00' });
  expect(changedLimits(PRESENT, { payout: '5000.00', fee: ' 25.00 ' })).toEqual({ fee_limit: '25.00' });
});

test('emptying a field resets its limit to the default', () => {
  expect(changedLimits(PRESENT, { payout: '  ', fee: '' })).toEqual({ payout_limit: null });
});

test('the request is empty if no field was changed', () => {
  expect(changedLimits(PRESENT, { payout: '5000.00', fee: '' })).toEqual({});
});
