import { describe, expect, it } from 'vitest';
import { refundReasonOf } from './refund.ts';

describe('the reason of a refund', () => {
  it('the status of an attempt determines the reason of its refund', () => {
    expect(refundReasonOf({ status: 'expiring', closedReason: null })).toBe('expired');
    expect(refundReasonOf({ status: 'expiring', closedReason: 'round_closed' })).toBe('round_closed');
    expect(refundReasonOf({ status: 'expiring', closedReason: 'round_cancelled' })).toBe('round_cancelled');
    expect(refundReasonOf({ status: 'voiding', closedReason: 'a broken game' })).toBe('voided');
  });

  it('the reason of a refund is never taken from an operator’s free text', () => {
    expect(refundReasonOf({ status: 'voiding', closedReason: 'round_cancelled' })).toBe('voided');
  });
});
