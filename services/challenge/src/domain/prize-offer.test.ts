import { cents } from '@laurel/money';
import { describe, expect, it } from 'vitest';
import { CALIBRATING, CEILINGS, LIVE, TERMS, TOP_N } from './example.ts';
import { attemptOfferOf, feeOnOffer, isPrizeAboveCeiling, prizeOnOffer } from './prize-offer.ts';

describe('the offer', () => {
  it('freezes the fee, the prize and the bar of a live challenge', () => {
    expect(attemptOfferOf(LIVE)).toEqual({ feeCents: 100n, prizeCents: 2_000n, threshold: 100 });
    expect(attemptOfferOf({ ...TOP_N, nthBestScore: 7 }).threshold).toBe(7);
  });

  it('is free and wins nothing without a bar, though the list shows the prize', () => {
    for (const challenge of [CALIBRATING, TOP_N]) {
      expect(attemptOfferOf(challenge)).toEqual({ feeCents: 0n, prizeCents: 0n, threshold: null });
      expect(feeOnOffer(challenge)).toBe(0n);
      expect(prizeOnOffer(challenge)).toBe(2_000n);
    }
  });

  it('may reach the ceiling of its tier and not pass it', () => {
    const withPrize = (prizeCents: bigint, integrityTier: number) => ({
      ...LIVE,
      terms: { ...TERMS, prizeCents: cents(prizeCents), integrityTier },
    });
    expect(isPrizeAboveCeiling(withPrize(2_500n, 1), CEILINGS)).toBe(false);
    expect(isPrizeAboveCeiling(withPrize(2_501n, 1), CEILINGS)).toBe(true);
    expect(isPrizeAboveCeiling(withPrize(2_501n, 2), CEILINGS)).toBe(false);
    expect(isPrizeAboveCeiling(withPrize(250_001n, 3), CEILINGS)).toBe(true);
  });
});
