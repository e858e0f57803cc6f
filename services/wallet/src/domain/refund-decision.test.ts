import { newId, refundTransferId } from '@laurel/ids';
import { cents } from '@laurel/money';
import { describe, expect, it } from 'vitest';
import { houseLedgerId, type PlayerLedger, playerLedgerId } from './ledger.ts';
import { decideRefunds, type PaidFee } from './refund-decision.ts';

const now = new Date('2026-11-21T12:00:00.000Z');
const accountId = newId();
const ledgerId = playerLedgerId(accountId, 'live');
const locked: PlayerLedger[] = [
  { id: ledgerId, accountId, environment: 'live', balanceCents: cents(5n), holdNextAward: false },
];
const fee: PaidFee = { ledgerId, attemptId: newId(), amountCents: cents(100n), refundedAt: null };
const refund = { feeTransferId: newId(), reason: 'expired' } as const;
const nothing = { lines: [], players: [], house: [] };

describe('decideRefunds', () => {
  it('returns a fee in full to the account that paid it', () => {
    const { results, changes } = decideRefunds({ refunds: [refund], fees: [fee], locked, now });
    expect(results).toEqual([{ refundedAt: now }]);
    expect(changes.lines).toEqual([
      {
        state: 'posted',
        id: refundTransferId(refund.feeTransferId),
        details: {
          kind: 'refund',
          attemptId: fee.attemptId,
          feeTransferId: refund.feeTransferId,
          reason: 'expired',
        },
        environment: 'live',
        debitId: houseLedgerId('house_fees', 'live'),
        creditId: ledgerId,
        amountCents: 100n,
        ledgerId,
        balanceAfterCents: 105n,
      },
    ]);
  });

  it('returns nothing for a fee that was never posted', () => {
    expect(decideRefunds({ refunds: [refund], fees: [null], locked, now })).toEqual({
      results: [{ refundedAt: null }],
      changes: nothing,
    });
  });

  it('answers a refund that was made before with its instant', () => {
    const refundedAt = new Date('2026-11-20T00:00:00.000Z');
    expect(decideRefunds({ refunds: [refund], fees: [{ ...fee, refundedAt }], locked: [], now })).toEqual({
      results: [{ refundedAt }],
      changes: nothing,
    });
  });

  it('returns the same fee once even within one batch', () => {
    const { results, changes } = decideRefunds({ refunds: [refund, refund], fees: [fee, fee], locked, now });
    expect(results).toEqual([{ refundedAt: now }, { refundedAt: now }]);
    expect(changes.lines).toHaveLength(1);
  });
});
