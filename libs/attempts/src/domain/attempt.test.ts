import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type AttemptStatus,
  afterRefund,
  CAP_COUNTED,
  canChangeStatus,
  canSettle,
  isVisible,
  shownStatus,
} from './attempt.ts';

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
  it('an attempt can settle only while it is open, or while it is pending and its fee is posted', () => {
    expect(STATUSES.filter((status) => canSettle(status, false))).toEqual(['open']);
    expect(STATUSES.filter((status) => canSettle(status, true))).toEqual(['pending', 'open']);
  });

  it('an attempt shows only four statuses to partners', () => {
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

  it('an attempt counts towards a cap unless its fee was refunded or never charged', () => {
    expect(CAP_COUNTED).toEqual(['pending', 'open', 'settled']);
  });

  it('an attempt never leaves a final state', () => {
    const final: AttemptStatus[] = ['settled', 'expired', 'voided'];
    fc.assert(fc.property(fc.constantFrom(...final), anyStatus, (from, to) => !canChangeStatus(from, to)));
  });

  it('the status that partners see changes only if it was open or the attempt was not shown yet', () => {
    fc.assert(
      fc.property(anyStatus, anyStatus, (from, to) => {
        fc.pre(canChangeStatus(from, to) && isVisible(from) && from !== 'open');
        expect(shownStatus(to)).toBe(shownStatus(from));
      }),
    );
  });

  it('an attempt that was shown as expired or voided keeps this status when its refund is complete', () => {
    fc.assert(
      fc.property(anyStatus, (status) => {
        const after = afterRefund(status);
        if (after === null) return;
        expect(canChangeStatus(status, after)).toBe(true);
        expect(shownStatus(status)).toBe(after);
      }),
    );
  });
});
