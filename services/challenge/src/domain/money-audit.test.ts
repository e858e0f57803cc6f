import type { AttemptStatus, AwardStatus } from '@laurel/attempts/domain';
import { describe, expect, it } from 'vitest';
import { type AuditedFee, type AuditedPayout, judgeFee, judgePayout } from './money-audit.ts';

const FEE: AuditedFee = { accountId: 'account', feeCents: 100n, refunded: false };
const REFUNDED: AuditedFee = { ...FEE, refunded: true };
const attempt = (status: AttemptStatus) => ({ status, accountId: 'account', feeCents: 100n });

const PAYOUT: AuditedPayout = { status: 'paid', attemptId: 'attempt', accountId: 'account', amountCents: 2_000n };
const award = (status: AwardStatus) => ({ status, attemptId: 'attempt', accountId: 'account', amountCents: 2_000n });

describe('an attempt and its fee', () => {
  it('an attempt and its fee agree in every state that a crash or a call in flight can leave', () => {
    const fine: readonly (readonly [AttemptStatus, AuditedFee | null])[] = [
      ['pending', null],
      ['pending', FEE],
      ['pending', REFUNDED],
      ['refused', null],
      ['open', FEE],
      ['settled', FEE],
      ['expiring', FEE],
      ['expiring', REFUNDED],
      ['expired', REFUNDED],
      ['voiding', FEE],
      ['voiding', REFUNDED],
      ['voided', REFUNDED],
    ];
    for (const [status, fee] of fine) expect(judgeFee(attempt(status), fee), status).toBeNull();
    expect(judgeFee(null, null)).toBeNull();
  });

  it('a disagreement of an attempt and its fee is proven if our row could not have been written', () => {
    for (const status of ['open', 'settled', 'expiring', 'expired', 'voiding', 'voided'] as const) {
      const check = { check: 'visible_attempt_has_its_fee', final: true };
      expect(judgeFee(attempt(status), null)).toEqual(check);
      expect(judgeFee(attempt(status), { ...FEE, feeCents: 99n })).toEqual(check);
      expect(judgeFee(attempt(status), { ...FEE, accountId: 'other' })).toEqual(check);
    }
    expect(judgeFee(attempt('expired'), FEE)).toEqual({ check: 'refunded_exactly_when_ended', final: true });
    expect(judgeFee(attempt('settled'), REFUNDED)).toEqual({ check: 'refunded_exactly_when_ended', final: true });
  });

  it('a disagreement of an attempt and its fee is checked again if our row may have changed', () => {
    expect(judgeFee(null, FEE)).toEqual({ check: 'posted_fee_has_its_attempt', final: false });
    expect(judgeFee(attempt('refused'), FEE)).toEqual({ check: 'posted_fee_has_its_attempt', final: false });
    expect(judgeFee(attempt('open'), REFUNDED)).toEqual({ check: 'refunded_exactly_when_ended', final: false });
  });
});

describe('an award and its payout', () => {
  it('an award and its payout agree in every state that a crash or a call in flight can leave', () => {
    const fine: readonly (readonly [AwardStatus, AuditedPayout['status'] | null])[] = [
      ['paying', null],
      ['paying', 'paid'],
      ['paying', 'held'],
      ['paid', 'paid'],
      ['held', 'held'],
      ['releasing', 'held'],
      ['releasing', 'paid'],
      ['denying', 'held'],
      ['denying', 'denied'],
      ['denied', 'denied'],
    ];
    for (const [status, payout] of fine) {
      expect(judgePayout(award(status), payout === null ? null : { ...PAYOUT, status: payout }), status).toBeNull();
    }
  });

  it('an award and its payout are a violation if the money went to another account, or to none', () => {
    const check = { check: 'award_has_its_payout', final: true };
    expect(judgePayout(award('paid'), null)).toEqual(check);
    expect(judgePayout(award('paid'), { ...PAYOUT, status: 'held' })).toEqual(check);
    expect(judgePayout(award('denied'), PAYOUT)).toEqual(check);
    expect(judgePayout(award('paid'), { ...PAYOUT, amountCents: 1n })).toEqual(check);
    expect(judgePayout(award('paying'), { ...PAYOUT, accountId: 'other' })).toEqual(check);
  });

  it('a disagreement of an award and its payout is checked again if our row may have changed', () => {
    expect(judgePayout(null, PAYOUT)).toEqual({ check: 'payout_has_its_award', final: false });
    expect(judgePayout(award('held'), PAYOUT)).toEqual({ check: 'award_has_its_payout', final: false });
  });
});
