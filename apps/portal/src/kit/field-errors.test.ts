import { expect, test } from 'vitest';
import type { Failure } from '../api/failure.ts';
import { placeFailure } from './field-errors.ts';

const NAMES = ['name', 'fee', 'top_n', 'threshold', 'threshold_direction', 'purse_table', 'opens_at', 'closes_at'];

function refusal(message: string, code: 'invalid_request' | 'conflict' = 'invalid_request'): Failure {
  return { kind: 'refused', status: 400, code, message, requestId: null, retryAfterSeconds: null };
}

test.each([
  ['fee: must be above 0.00', { fee: 'Must be above 0.00.' }],
  [
    'name: must have at most 255 characters; fee: must be above 0.00',
    { name: 'Must have at most 255 characters.', fee: 'Must be above 0.00.' },
  ],
  ['fee: is no amount; fee: must be above 0.00', { fee: 'Is no amount. Must be above 0.00.' }],
  ["threshold_direction must be the parent's.", { threshold_direction: "threshold_direction must be the parent's." }],
  [
    'every amount of purse_table must be above 0.00.',
    { purse_table: 'Every amount of purse_table must be above 0.00.' },
  ],
  ['purse_table.3.amount: must be above 0.00', { purse_table: 'purse_table.3.amount: must be above 0.00.' }],
  ['closes_at must be after opens_at.', { closes_at: 'closes_at must be after opens_at.' }],
])('the message "%s" is shown at the field that it names first', (message, errors) => {
  expect(placeFailure(refusal(message), NAMES)).toEqual({ errors, rest: undefined });
});

test('a message that names no field is shown below the form', () => {
  expect(placeFailure(refusal('jurisdictions.0: is not known; fee: must be above 0.00'), NAMES)).toEqual({
    errors: { fee: 'Must be above 0.00.' },
    rest: refusal('jurisdictions.0: is not known'),
  });
  for (const failure of [undefined, refusal('The fee is taken.', 'conflict'), { kind: 'unreachable' } as const]) {
    expect(placeFailure(failure, NAMES)).toEqual({ errors: {}, rest: failure });
  }
});
