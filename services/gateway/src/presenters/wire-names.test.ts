import * as challenge from '@laurel/proto/challenge';
import * as tournament from '@laurel/proto/tournament';
import { expect, test } from 'vitest';
import { nameOf, ROUND_STATUSES } from './wire-names.ts';

test('both services that own attempts number the states and directions that one table names for both', () => {
  expect(tournament.AttemptStatus).toEqual(challenge.AttemptStatus);
  expect(tournament.ThresholdDirection).toEqual(challenge.ThresholdDirection);
});

test('a value without a word is a bug, not an answer', () => {
  expect(nameOf(ROUND_STATUSES, tournament.RoundStatus.SETTLING)).toBe('settling');
  expect(() => nameOf(ROUND_STATUSES, tournament.RoundStatus.UNSPECIFIED)).toThrow();
});
