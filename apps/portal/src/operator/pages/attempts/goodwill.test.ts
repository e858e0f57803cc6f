import { expect, test } from 'vitest';
import { goodwillWords, nextReference } from './goodwill.ts';

const at = '2026-11-26T12:00:00.000Z';
const CREATED = { kind: 'created', at } as const;
const DEPOSITED = { kind: 'goodwill_deposited', at, amount: '1250.00', reference: 'ticket 7' } as const;

test('each deposit gets its own reference, numbered after the deposits before it', () => {
  expect(nextReference({ id: 'a-1', timeline: [CREATED] })).toBe('goodwill 1 for attempt a-1');
  expect(nextReference({ id: 'a-1', timeline: [CREATED, DEPOSITED] })).toBe('goodwill 2 for attempt a-1');
});

test('the page shows the amount of each earlier deposit for the attempt', () => {
  expect(goodwillWords({ timeline: [CREATED] })).toBe('nothing');
  expect(goodwillWords({ timeline: [CREATED, DEPOSITED, { ...DEPOSITED, amount: '2.50' }] })).toBe('$1,250.00, $2.50');
});
