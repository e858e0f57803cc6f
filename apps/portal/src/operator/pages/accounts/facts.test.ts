import { expect, test } from 'vitest';
import type { Account, AccountLinks } from '../../../api/api-types.ts';
import { changesSince } from '../../layout/changes-since.ts';
import { accountItem, linksItem } from './facts.ts';

const ACCOUNT: Account = {
  id: 'account',
  email: 'ana@example.com',
  date_of_birth: '1990-12-31',
  jurisdiction: 'US-CA',
  verification_level: 1,
  self_excluded_until: null,
  enforcement_flag: false,
  under_investigation: false,
  blocked: false,
  fee_limit: null,
  sandbox_only: false,
  program_id: null,
  created_at: null,
};

test('each fact that another operator has changed is named', () => {
  const now: Account = {
    ...ACCOUNT,
    jurisdiction: 'GB',
    verification_level: 3,
    self_excluded_until: '2026-11-26T12:00:00.000Z',
    enforcement_flag: true,
    under_investigation: true,
    blocked: true,
    fee_limit: '25.00',
  };
  const { facts } = accountItem(ACCOUNT);
  expect(changesSince(ACCOUNT, now, facts).map(({ label, from, to }) => [label, from, to])).toEqual([
    ['Block', 'no', 'yes'],
    ['Self-exclusion', 'none', 'until 2026-11-26 12:00:00.000 UTC'],
    ['Enforcement flag', 'no', 'yes'],
    ['Investigation', 'no', 'yes'],
    ['Verification level', '1', '3'],
    ['Jurisdiction', 'US-CA', 'GB'],
    ['Fee limit', 'the program’s', '$25.00'],
  ]);
});

test('an account’s links at a program are shown as its players, as "severed" or as "none"', () => {
  const at = '2026-11-26T12:00:00.000Z';
  const linked: AccountLinks = {
    data: [
      { program_id: 'one', environment: 'live', player_ref: 'ana', created_at: at },
      { program_id: 'one', environment: 'test', player_ref: 'ana 2', created_at: at },
      { program_id: 'other', environment: 'live', player_ref: 'somebody', created_at: at },
    ],
    severed: [],
  };
  const severed: AccountLinks = { data: [], severed: [{ program_id: 'one', severed_at: at }] };
  const [fact] = linksItem({ accountId: 'account', programId: 'one', shown: linked }).facts;
  expect([linked, severed, { data: [], severed: [] }].map((links) => fact?.of(links))).toEqual([
    'ana in live, ana 2 in test',
    'severed',
    'none',
  ]);
});
