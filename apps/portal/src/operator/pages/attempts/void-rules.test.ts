import { expect, test } from 'vitest';
import { voidConsequence, whyNotVoidable } from './void-rules.ts';

const OPEN = { status: 'open', fee: '1.00', environment: 'live', timeline: [] } as const;
const REFUNDED = { kind: 'fee_refunded', at: '2026-11-26T12:00:00.000Z' } as const;

test('an operator can void an attempt that is open or whose void was not refunded', () => {
  expect(whyNotVoidable({ ...OPEN, timeline: [] })).toBeNull();
  expect(whyNotVoidable({ ...OPEN, timeline: [], status: 'voided' })).toBeNull();
});

test('the page of an attempt that has ended says why no operator can void it', () => {
  expect(whyNotVoidable({ ...OPEN, status: 'voided', timeline: [REFUNDED] })).toBe('It is voided.');
  expect(whyNotVoidable({ ...OPEN, status: 'voided', fee: '0.00', timeline: [] })).toBe('It is voided.');
  expect(whyNotVoidable({ ...OPEN, status: 'expired', timeline: [] })).toMatch(/its fee goes back by itself/);
  expect(whyNotVoidable({ ...OPEN, status: 'expired', fee: '0.00', timeline: [] })).toMatch(/no outcome can come\.$/);
  expect(whyNotVoidable({ ...OPEN, status: 'settled', timeline: [] })).toMatch(/stands. A deposit can make it good/);
});

test('the void dialog states which money is refunded', () => {
  expect(voidConsequence({ ...OPEN, timeline: [] })).toMatch(
    /^The player has the fee of \$1.00 in real money back at once/,
  );
  expect(voidConsequence({ ...OPEN, timeline: [], environment: 'test' })).toMatch(
    /\$1.00 in play money of the sandbox/,
  );
  expect(voidConsequence({ ...OPEN, timeline: [], fee: '0.00' })).toMatch(/^No fee was charged, so no money moves/);
});
