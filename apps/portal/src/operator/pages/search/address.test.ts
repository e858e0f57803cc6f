import { expect, test } from 'vitest';
import type { FoundItem, FoundKind } from '../../../api/api-types.ts';
import { addressOf } from './address.ts';

function found(kind: FoundKind, rest: Partial<FoundItem> = {}): FoundItem {
  const none = { program_id: null, environment: null, attempt_id: null, account_id: null };
  return { kind, id: 'i-1', ...none, summary: '', ...rest };
}

test.each([
  ['attempt', '/attempts/i-1'],
  ['award', '/payouts/i-1'],
  ['account', '/accounts/i-1'],
  ['program', '/programs/i-1'],
  ['challenge', '/challenges/i-1'],
  ['tournament', '/tournaments/i-1'],
  ['round', '/rounds/i-1'],
] as const)('the search result %s links to %s', (kind, to) => {
  expect(addressOf(found(kind, { attempt_id: 'a-1', program_id: 'p-1' }))).toEqual({ to, search: {} });
});

test('a developer in the search results links to the list of developers, filtered to that developer', () => {
  const address = { to: '/developers', search: { email: 'dev@example.com' } };
  expect(addressOf(found('developer', { summary: 'dev@example.com' }))).toEqual(address);
});

test.each(['receipt', 'delivery', 'event', 'request'] as const)(
  'the search result %s links to its attempt, or to its program if it has no attempt',
  (kind) => {
    const ofAttempt = found(kind, { attempt_id: 'a-1', program_id: 'p-1' });
    expect(addressOf(ofAttempt)).toEqual({ to: '/attempts/a-1', search: {} });
    expect(addressOf({ ...ofAttempt, attempt_id: null })).toEqual({ to: '/programs/p-1', search: {} });
    expect(addressOf(found(kind))).toBeNull();
  },
);

test('a player_ref in the search results links to the attempts of the player in its program and environment', () => {
  expect(addressOf(found('player_ref', { program_id: 'p-1', environment: 'live', account_id: 'c-1' }))).toEqual({
    to: '/attempts',
    search: { program_id: 'p-1', environment: 'live', player_ref: 'i-1' },
  });
});
