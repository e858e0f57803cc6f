import { expect, test } from 'vitest';
import { challengeRequestOf } from './challenge-request.ts';

/** Returns the members that JSON keeps of the request. */
function sent(fields: Readonly<Record<string, string>>): unknown {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  return JSON.parse(JSON.stringify(challengeRequestOf(form)));
}

test('the request omits empty fields', () => {
  expect(sent({ name: ' Sprint ', description: ' ', min_calibration_n: '', jurisdictions: '' })).toEqual({
    name: 'Sprint',
  });
});

test('the request sends amounts as texts and numbers as numbers', () => {
  expect(
    sent({ fee: '1.00', target_pass_rate: '0.2', score_min: '-1.5', top_n: '10', jurisdictions: 'US-CA, GB\nDE' }),
  ).toEqual({
    fee: '1.00',
    target_pass_rate: 0.2,
    score_min: -1.5,
    top_n: 10,
    jurisdictions: ['US-CA', 'GB', 'DE'],
  });
});

test('a text that is not a number is sent unchanged', () => {
  expect(sent({ top_n: 'ten', threshold: '1,000', target_pass_rate: 'Infinity', score_max: '0x10' })).toEqual({
    top_n: 'ten',
    threshold: '1,000',
    target_pass_rate: 'Infinity',
    score_max: '0x10',
  });
});
