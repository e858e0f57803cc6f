import { expect, test } from 'vitest';
import { tournamentRequestOf } from './tournament-request.ts';

/** Returns the members that JSON keeps of the request. */
function sent(fields: Readonly<Record<string, string>>): unknown {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  return JSON.parse(JSON.stringify(tournamentRequestOf(form, [{ key: 0, ranks: '2', amount: '5.00' }])));
}

const PURSE = [
  { rank: 1, amount: '5.00' },
  { rank: 2, amount: '5.00' },
];

test('the request omits the tiebreak and the round length if their fields are empty', () => {
  const fields = { name: 'Cup', tiebreak_metric_name: '', tiebreak_direction: 'lower_is_better', length_unit: '60' };
  expect(sent(fields)).toEqual({ name: 'Cup', purse_table: PURSE });
});

test('the request states the length of a round in seconds, whatever unit was chosen', () => {
  for (const [length, unit, seconds] of [
    ['11', '60', 660],
    ['1.5', '3600', 5_400],
    ['7', '86400', 604_800],
    ['a week', '86400', 'a week'],
  ] as const) {
    const fields = { tiebreak_metric_name: 'moves', tiebreak_direction: 'lower_is_better', attempt_cap: '3' };
    expect(sent({ ...fields, round_length_seconds: length, length_unit: unit })).toEqual({
      tiebreak_metric_name: 'moves',
      tiebreak_direction: 'lower_is_better',
      attempt_cap: 3,
      purse_table: PURSE,
      round_length_seconds: seconds,
    });
  }
});
