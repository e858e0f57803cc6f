import { expect, test } from 'vitest';
import { findName, nameOf, ROUND_STATUSES } from './enum-names.ts';
import * as challenge from './generated/laurel/challenge/v1/challenge.ts';
import * as tournament from './generated/laurel/tournament/v1/tournament.ts';

test('both contest services use the same numbers for directions', () => {
  expect(tournament.ThresholdDirection).toEqual(challenge.ThresholdDirection);
});

test('an enum value without a name is a bug and throws', () => {
  expect(nameOf(ROUND_STATUSES, tournament.RoundStatus.SETTLING)).toBe('settling');
  expect(() => nameOf(ROUND_STATUSES, tournament.RoundStatus.UNSPECIFIED)).toThrow();
  expect(findName(ROUND_STATUSES, tournament.RoundStatus.UNSPECIFIED)).toBeUndefined();
});
