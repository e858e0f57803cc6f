import { describe, expect, it } from 'vitest';
import { refundReasonOf } from './refund.ts';

describe('the reason of a refund', () => {
  it('is read off an attempt that is ending', () => {
    expect(refundReasonOf({ status: 'expiring', closedReason: null })).toBe('expired');
    expect(refundReasonOf({ status: 'expiring', closedReason: 'round_closed' })).toBe('round_closed');
    expect(refundReasonOf({ status: 'expiring', closedReason: 'round_cancelled' })).toBe('round_cancelled');
    expect(refundReasonOf({ status: 'voiding', closedReason: 'a broken game' })).toBe('voided');
  });

  it('is never taken from the words of an operator', () => {
    expect(refundReasonOf({ status: 'voiding', closedReason: 'round_cancelled' })).toBe('voided');
  });
});
