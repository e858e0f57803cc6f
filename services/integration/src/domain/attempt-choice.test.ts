import { expect, it } from 'vitest';
import { chooseAttempt } from './attempt-choice.ts';

const none = { attemptIds: [], isCalibrating: false };
const one = { attemptIds: ['first'], isCalibrating: false };
const two = { attemptIds: ['first', 'second'], isCalibrating: false };

it('a report settles the player’s only open attempt, whatever the descriptor’s `pick` says', () => {
  expect(chooseAttempt(one, 'only')).toEqual({ kind: 'attempt', attemptId: 'first' });
  expect(chooseAttempt(one, 'oldest')).toEqual({ kind: 'attempt', attemptId: 'first' });
});

it('the oldest of several open attempts is picked only if the descriptor allows it', () => {
  expect(chooseAttempt(two, 'oldest')).toEqual({ kind: 'attempt', attemptId: 'first' });
  expect(chooseAttempt(two, 'only')).toMatchObject({ kind: 'refused', code: 'invalid_request' });
});

it('a report without an open attempt is kept as a sample only while its challenge calibrates', () => {
  expect(chooseAttempt({ ...none, isCalibrating: true }, 'only')).toEqual({ kind: 'listened' });
  expect(chooseAttempt(none, 'oldest')).toMatchObject({ kind: 'refused', code: 'not_found' });
});

it('a score for an open attempt of a calibrating challenge settles the attempt', () => {
  expect(chooseAttempt({ ...one, isCalibrating: true }, 'only')).toEqual({ kind: 'attempt', attemptId: 'first' });
});
