import { expect, test } from 'vitest';
import type { OperatorAction } from '../../api/api-types.ts';
import { changesSince, type Fact, loggedOf, withAuthors } from './changes-since.ts';

interface Item {
  readonly status: string;
  readonly account: { readonly blocked: boolean };
  readonly seen: number;
}

const FACTS: readonly Fact<Item>[] = [
  { label: 'Status', of: ({ status }) => status },
  { label: 'Blocked', of: ({ account }) => (account.blocked ? 'yes' : 'no') },
];
const SHOWN: Item = { status: 'held', account: { blocked: false }, seen: 1 };

function action(changed: Partial<OperatorAction>): OperatorAction {
  return {
    id: '1',
    at: '2026-11-26T12:00:00.000Z',
    actor: 'ana',
    action: 'change',
    subject: 'item:1',
    before: { status: 'held' },
    after: { status: 'paid' },
    outcome: 'done',
    status: 200,
    request_id: '1',
    ...changed,
  };
}

test('a fact counts as changed only if its text differs', () => {
  expect(changesSince(SHOWN, { ...SHOWN, seen: 2 }, FACTS)).toEqual([]);
  expect(changesSince(SHOWN, { ...SHOWN, status: 'paid' }, FACTS)).toEqual([
    { label: 'Status', from: 'held', to: 'paid', by: null },
  ]);
});

test('a change names the operator of the last action that set the fact to its new value', () => {
  const changes = changesSince(SHOWN, { ...SHOWN, status: 'paid' }, FACTS);
  const actions = [
    action({ actor: 'refused', outcome: 'refused' }),
    action({ actor: 'other fact', before: { status: 'paid' }, after: { status: 'paid' } }),
    action({ actor: 'bob', at: '2026-11-26T12:00:02.000Z' }),
    action({ actor: 'ana' }),
  ];
  expect(withAuthors(changes, FACTS, loggedOf(actions))).toEqual([
    { label: 'Status', from: 'held', to: 'paid', by: { operator: 'bob', at: '2026-11-26T12:00:02.000Z' } },
  ]);
});

test('an action on a part of an item counts as the cause of changes to that part only', () => {
  const now: Item = { ...SHOWN, status: 'paid', account: { blocked: true } };
  const blocking = action({ actor: 'eve', before: { blocked: false }, after: { blocked: true } });
  const logged = loggedOf([blocking], (account) => ({ account }));
  expect(withAuthors(changesSince(SHOWN, now, FACTS), FACTS, logged)).toEqual([
    { label: 'Status', from: 'held', to: 'paid', by: null },
    { label: 'Blocked', from: 'no', to: 'yes', by: { operator: 'eve', at: '2026-11-26T12:00:00.000Z' } },
  ]);
});

test('a change names no operator if the log has no state of the subject to compare', () => {
  const changes = changesSince(SHOWN, { ...SHOWN, status: 'paid' }, FACTS);
  const actions = [action({ before: null }), action({ after: null }), action({ after: { omitted_bytes: 20_000 } })];
  expect(withAuthors(changes, FACTS, loggedOf(actions))).toEqual(changes);
});
