import { newId, newOwnedId, refundTransferId } from '@laurel/values/ids';
import { cents } from '@laurel/values/money';
import { describe, expect, it } from 'vitest';
import { houseLedgerId, LIVE_HOUSE, type PlayerLedger, playerLedgerId } from './ledger.ts';
import { decideRefunds, type PaidFee } from './refund-decision.ts';

const now = new Date('2026-11-21T12:00:00.000Z');
const accountId = newId();
const ledgerId = playerLedgerId(accountId, 'live');
const locked: PlayerLedger[] = [
  {
    id: ledgerId,
    accountId,
    environment: 'live',
    houseId: LIVE_HOUSE,
    balanceCents: cents(5n),
    holdNextAward: false,
  },
];
const fee: PaidFee = { ledgerId, attemptId: newId(), amountCents: cents(100n), refundedAt: null };
const refund = { feeTransferId: newId(), reason: 'expired', owner: null } as const;
const nothing = { lines: [], players: [], house: [] };

describe('decideRefunds', () => {
  it('a refund returns the fee in full to the account that paid it', () => {
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
        houseId: LIVE_HOUSE,
        debitId: houseLedgerId('house_fees', LIVE_HOUSE),
        creditId: ledgerId,
        amountCents: 100n,
        ledgerId,
        balanceAfterCents: 105n,
      },
    ]);
  });

  it('a refund of a fee that was never posted returns nothing', () => {
    expect(decideRefunds({ refunds: [refund], fees: [null], locked, now })).toEqual({
      results: [{ refundedAt: null }],
      changes: nothing,
    });
  });

  it('a contest service can refund only the fees of its own attempts', () => {
    const ofChallenge = { ...fee, attemptId: newOwnedId('challenge') };
    const decide = (owner: 'challenge' | 'tournament') =>
      decideRefunds({ refunds: [{ ...refund, owner }], fees: [ofChallenge], locked, now });
    expect(decide('tournament')).toEqual({ results: [{ refundedAt: null }], changes: nothing });
    expect(decide('challenge').results).toEqual([{ refundedAt: now }]);
  });

  it('a repeated refund has the instant of the first', () => {
    const refundedAt = new Date('2026-11-20T00:00:00.000Z');
    expect(decideRefunds({ refunds: [refund], fees: [{ ...fee, refundedAt }], locked: [], now })).toEqual({
      results: [{ refundedAt }],
      changes: nothing,
    });
  });

  it('a refund that a batch has twice returns the fee once', () => {
    const { results, changes } = decideRefunds({ refunds: [refund, refund], fees: [fee, fee], locked, now });
    expect(results).toEqual([{ refundedAt: now }, { refundedAt: now }]);
    expect(changes.lines).toHaveLength(1);
  });
});
