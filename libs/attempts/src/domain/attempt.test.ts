import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AttemptStatus, afterRefund, CAP_COUNTED, canMove, canSettle, isVisible, shownStatus } from './attempt.ts';

const STATUSES: readonly AttemptStatus[] = [
  'pending',
  'open',
  'settled',
  'expiring',
  'expired',
  'voiding',
  'voided',
  'refused',
];
const anyStatus = fc.constantFrom(...STATUSES);

describe('an attempt', () => {
  it('an attempt settles while it is open, or pending with its fee known to be posted, and never otherwise', () => {
    expect(STATUSES.filter((status) => canSettle(status, false))).toEqual(['open']);
    expect(STATUSES.filter((status) => canSettle(status, true))).toEqual(['pending', 'open']);
  });

  it('an attempt shows four statuses and hides the states between two commits', () => {
    expect(STATUSES.map(shownStatus)).toEqual([
      null,
      'open',
      'settled',
      'expired',
      'expired',
      'voided',
      'voided',
      null,
    ]);
  });

  it('an attempt counts towards a cap unless its fee was returned or never charged', () => {
    expect(CAP_COUNTED).toEqual(['pending', 'open', 'settled']);
  });

  it('an attempt never leaves a final state', () => {
    const final: AttemptStatus[] = ['settled', 'expired', 'voided'];
    fc.assert(fc.property(fc.constantFrom(...final), anyStatus, (from, to) => !canMove(from, to)));
  });

  it('an attempt keeps its shown status when it moves between states, unless it was open or not yet shown', () => {
    fc.assert(
      fc.property(anyStatus, anyStatus, (from, to) => {
        fc.pre(canMove(from, to) && isVisible(from) && from !== 'open');
        expect(shownStatus(to)).toBe(shownStatus(from));
      }),
    );
  });

  it('an attempt ends its refund in the status that was already shown', () => {
    fc.assert(
      fc.property(anyStatus, (status) => {
        const after = afterRefund(status);
        if (after === null) return;
        expect(canMove(status, after)).toBe(true);
        expect(shownStatus(status)).toBe(after);
      }),
    );
  });
});
