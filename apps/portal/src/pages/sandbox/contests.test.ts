import { expect, test } from 'vitest';
import type { OperatorChallenge, OperatorTournament } from '../../api/api-types.ts';
import { contestsOf, labelOf } from './contests.ts';

function challenge(name: string, changed: Partial<OperatorChallenge> = {}): OperatorChallenge {
  const terms = { fee: '1.00', prize: '5.00', threshold: 60, metric_unit: 'seconds', rung: 1, status: 'live' };
  return { id: name, name, threshold_direction: 'lower_is_better', ...terms, ...changed } as OperatorChallenge;
}

const CUP = {
  id: 'cup',
  name: 'Cup',
  metric_unit: 'metres',
  tiebreak_metric_name: 'time',
  current_round: { id: 'round-1', status: 'open', entry_fee: '0.00', purse_amount: '10.00' },
} as OperatorTournament;

test('the sandbox lists contests that a new player can enter first', () => {
  const challenges = [
    challenge('upper', { rung: 2 }),
    challenge('closed', { status: 'closed' }),
    challenge('suspended', { status: 'suspended' }),
    challenge('first'),
  ];
  expect(contestsOf(challenges, [CUP]).map(({ name }) => name)).toEqual(['first', 'Cup', 'upper', 'suspended']);
});

test('a tournament keeps its key in the list when its next round opens', () => {
  const [round] = contestsOf([], [CUP]);
  expect(round).toMatchObject({ key: 'cup', id: 'round-1', tiebreak: 'time', goal: 'a purse of $10.00' });
  expect(round && labelOf(round)).toBe('Cup · round, free · open');
});

test('a challenge says which score wins', () => {
  expect(contestsOf([challenge('lap')], [])[0]?.goal).toBe('at most 60 seconds wins $5.00');
});
