import type { AttemptStatus } from '@laurel/attempts/domain';
import { describe, expect, it } from 'vitest';
import { type AuditedAttempt, type AuditedPurse, judgeFee, judgePayout } from './money-audit.ts';
import type { AwardStatus, RoundStatus } from './tournament.ts';

const ATTEMPT: AuditedAttempt = { status: 'open', accountId: 'account', feeCents: 500n, roundStatus: 'open' };
const FEE = { accountId: 'account', feeCents: 500n, refunded: false };
const PURSE: AuditedPurse = { status: 'paid', roundId: 'round', accountId: 'account', amountCents: 900n };
const PAYOUT = { status: 'paid', roundId: 'round', accountId: 'account', amountCents: 900n } as const;

const attempt = (status: AttemptStatus, roundStatus: RoundStatus = 'open') => ({ ...ATTEMPT, status, roundStatus });
const purse = (status: AwardStatus) => ({ ...PURSE, status });

describe('an attempt and its entry fee', () => {
  it('an attempt agrees with its entry fee only if its account paid the frozen amount', () => {
    expect(judgeFee(ATTEMPT, FEE)).toBeNull();
    const missing = { check: 'visible_entry_has_its_fee', final: true };
    expect(judgeFee(ATTEMPT, null)).toEqual(missing);
    expect(judgeFee(ATTEMPT, { ...FEE, feeCents: 499n })).toEqual(missing);
    expect(judgeFee(ATTEMPT, { ...FEE, accountId: 'other' })).toEqual(missing);
  });

  it('a posted fee whose attempt was refused or is unknown is a finding', () => {
    for (const fee of [FEE, null]) expect(judgeFee(attempt('pending'), fee)).toBeNull();
    const orphan = { check: 'posted_entry_fee_has_its_attempt', final: false };
    for (const ours of [attempt('refused'), null]) {
      expect(judgeFee(ours, FEE)).toEqual(orphan);
      expect(judgeFee(ours, null)).toBeNull();
    }
  });

  it('a fee must be refunded exactly if its attempt ended or its round was cancelled', () => {
    const check = 'entry_is_refunded_exactly_when_ended';
    const judge = (status: AttemptStatus, roundStatus: RoundStatus, refunded: boolean) =>
      judgeFee(attempt(status, roundStatus), { ...FEE, refunded });
    for (const status of ['expired', 'voided'] as const) {
      expect(judge(status, 'settled', true)).toBeNull();
      expect(judge(status, 'open', false)).toEqual({ check, final: true });
    }
    for (const status of ['settled', 'expired'] as const) {
      expect(judge(status, 'cancelled', true)).toBeNull();
      expect(judge(status, 'cancelled', false)).toEqual({ check, final: true });
    }
    expect(judge('settled', 'settled', true)).toEqual({ check, final: true });
    expect(judge('settled', 'settling', true)).toEqual({ check, final: true });
    // Since our row was read, the round was cancelled or the attempt expired, and the fee was
    // refunded.
    expect(judge('settled', 'open', true)).toEqual({ check, final: false });
    expect(judge('open', 'open', true)).toEqual({ check, final: false });
  });

  it('a refund that is under way is not reported as a finding', () => {
    const onTheirWay = [
      attempt('expiring', 'settled'),
      attempt('voiding'),
      attempt('settled', 'cancelling'),
      attempt('expiring', 'cancelling'),
    ];
    for (const ours of onTheirWay) {
      for (const refunded of [true, false]) expect(judgeFee(ours, { ...FEE, refunded })).toBeNull();
    }
  });
});

describe('a purse and its payout', () => {
  it('a purse and its payout agree on round, account, amount and status', () => {
    expect(judgePayout(PURSE, PAYOUT)).toBeNull();
    const wrong = { check: 'purse_has_its_payout', final: true };
    expect(judgePayout(PURSE, { ...PAYOUT, roundId: 'other' })).toEqual(wrong);
    expect(judgePayout(PURSE, { ...PAYOUT, accountId: 'other' })).toEqual(wrong);
    expect(judgePayout(PURSE, { ...PAYOUT, amountCents: 899n })).toEqual(wrong);
    expect(judgePayout(PURSE, { ...PAYOUT, status: 'held' })).toEqual(wrong);
    expect(judgePayout(purse('denied'), PAYOUT)).toEqual(wrong);
    expect(judgePayout(PURSE, null)).toEqual(wrong);
  });

  it('a payout that is under way is not reported as a finding', () => {
    expect(judgePayout(purse('paying'), null)).toBeNull();
    for (const status of ['paying', 'releasing', 'denying'] as const) {
      expect(judgePayout(purse(status), PAYOUT)).toBeNull();
      expect(judgePayout(purse(status), { ...PAYOUT, status: 'held' })).toBeNull();
    }
    expect(judgePayout(purse('held'), { ...PAYOUT, status: 'held' })).toBeNull();
    expect(judgePayout(purse('held'), PAYOUT)).toEqual({ check: 'purse_has_its_payout', final: false });
  });

  it('a payout of the wallet that no rank won is a finding', () => {
    expect(judgePayout(null, PAYOUT)).toEqual({ check: 'purse_payout_has_its_rank', final: false });
    expect(judgePayout(null, null)).toBeNull();
  });
});
