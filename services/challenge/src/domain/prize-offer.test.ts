import { describe, expect, it } from 'vitest';
import { CALIBRATING, LIVE, TOP_N } from './example.ts';
import { attemptOfferOf, feeOnOffer, prizeOnOffer } from './prize-offer.ts';

describe('the offer', () => {
  it('the offer freezes the fee, the prize and the bar of a live challenge', () => {
    expect(attemptOfferOf(LIVE)).toEqual({ feeCents: 100n, prizeCents: 2_000n, threshold: 100 });
    expect(attemptOfferOf({ ...TOP_N, nthBestScore: 7 }).threshold).toBe(7);
  });

  it('the offer is free and wins nothing without a bar, though the list shows the prize', () => {
    for (const challenge of [CALIBRATING, TOP_N]) {
      expect(attemptOfferOf(challenge)).toEqual({ feeCents: 0n, prizeCents: 0n, threshold: null });
      expect(feeOnOffer(challenge)).toBe(0n);
      expect(prizeOnOffer(challenge)).toBe(2_000n);
    }
  });
});
