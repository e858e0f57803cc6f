import { describe, expect, it } from 'vitest';
import { CALIBRATING_CHALLENGE, CEILINGS, LIVE_CHALLENGE, TOP_N_CHALLENGE } from './example.ts';
import { attemptOfferOf, feeOnOffer, prizeOnOffer } from './prize-offer.ts';

describe('the offer', () => {
  it('the offer freezes the fee, the prize and the bar of a live challenge', () => {
    expect(attemptOfferOf(LIVE_CHALLENGE, CEILINGS)).toEqual({ feeCents: 100n, prizeCents: 2_000n, threshold: 100 });
    expect(attemptOfferOf({ ...TOP_N_CHALLENGE, nthBestScore: 7 }, CEILINGS).threshold).toBe(7);
  });

  it('an attempt without a bar is free and wins nothing', () => {
    for (const challenge of [CALIBRATING_CHALLENGE, TOP_N_CHALLENGE]) {
      expect(attemptOfferOf(challenge, CEILINGS)).toEqual({ feeCents: 0n, prizeCents: 0n, threshold: null });
      expect(feeOnOffer(challenge)).toBe(0n);
      expect(prizeOnOffer(challenge, CEILINGS)).toBe(2_000n);
    }
  });
});
