import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkDecision, type ShownPayout } from './payout-decision.ts';

const DECIDED: ShownPayout = {
  status: 'denied',
  reason: 'enforcement_flag',
  decision: { operator: 'ana', reason: 'a bot' },
};
const DENIAL = { decision: 'denied', operator: 'ana', reason: 'a bot' } as const;

describe('the decision on a payout', () => {
  test('an operator who repeats a decision gets the payout', () => {
    expect(checkDecision(DECIDED, DENIAL)).toBeNull();
  });

  test.each<[string, Partial<ShownPayout>, object, string]>([
    ['a denial after the denial of another operator', {}, { operator: 'ben' }, 'denied by ana.'],
    ['a denial for another reason', {}, { reason: 'two bots' }, 'denied by ana, with another reason.'],
    ['a release after a denial', {}, { decision: 'released' }, 'denied by ana.'],
    ['a denial after a release', { status: 'paid' }, {}, 'released by ana.'],
    [
      'a release after the release of another operator',
      { status: 'paid' },
      { decision: 'released', operator: 'ben' },
      'released by ana.',
    ],
    ['a decision after one without an operator', { decision: null }, {}, 'was denied.'],
    [
      'a release of what no rule held',
      { status: 'paid', reason: null, decision: null },
      { decision: 'released' },
      'paid without a hold.',
    ],
    ['a decision that has not reached the payout', { status: 'held', decision: null }, {}, 'still held.'],
  ])('%s is a conflict that names the earlier decision', (_what, change, asked, message) => {
    expect(checkDecision({ ...DECIDED, ...change }, { ...DENIAL, ...asked })).toMatchObject({
      code: 'conflict',
      message: expect.stringContaining(message),
    });
  });

  test('every decision on a payout except a repetition of the first is a conflict', () => {
    const request = fc.record({
      decision: fc.constantFrom('released', 'denied'),
      operator: fc.constantFrom('ana', 'ben'),
      reason: fc.constantFrom('a bot', 'a mistake', null),
    });
    fc.assert(
      fc.property(request, request, (first, second) => {
        const status: ShownPayout['status'] = first.decision === 'released' ? 'paid' : 'denied';
        const { operator, reason } = first;
        const payout = { ...DECIDED, status, decision: { operator, reason } };
        const isSame = JSON.stringify(first) === JSON.stringify(second);
        expect(checkDecision(payout, second) === null).toBe(isSame);
      }),
    );
  });
});
