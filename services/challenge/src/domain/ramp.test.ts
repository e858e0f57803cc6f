import { cents } from '@laurel/values/money';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CalibrationSource, Challenge } from './challenge.ts';
import { CALIBRATING_CHALLENGE, CEILINGS, LIVE_CHALLENGE, NOW, TERMS, TOP_N_CHALLENGE } from './example.ts';
import { attemptOfferOf, prizeOnOffer } from './prize-offer.ts';
import { RAMP_ATTEMPTS, rampOf, rampPrizeCapOf, rampSoFar } from './ramp.ts';

const SEEDED: Challenge = { ...LIVE_CHALLENGE, calibrationSource: 'partner_seeded', hasRamp: true, attemptsSeen: 12 };

const challenge = fc
  .record({
    prizeCents: fc.bigInt({ min: 1n, max: 1_000_000n }).map(cents),
    integrityTier: fc.constantFrom(1, 2, 3),
    source: fc.constantFrom<CalibrationSource>('observed', 'listened', 'partner_seeded', 'rung_derived'),
    byOperator: fc.boolean(),
    completed: fc.boolean(),
    attemptsSeen: fc.nat(1_000),
  })
  .map(
    ({ prizeCents, integrityTier, source, byOperator, completed, attemptsSeen }): Challenge => ({
      ...LIVE_CHALLENGE,
      terms: { ...TERMS, prizeCents, integrityTier },
      calibrationSource: source,
      hasRamp: source !== 'observed' || !byOperator,
      rampCompletedAt: completed ? NOW : null,
      attemptsSeen,
    }),
  );
const ceiling = fc.bigInt({ min: 1n, max: 1_000_000n }).map(cents);
const ceilings = fc.tuple(ceiling, ceiling, ceiling);

describe('the ramp', () => {
  it('the ramp caps the prize at 20 % of the ceiling of its tier', () => {
    const capIn = (integrityTier: number) => rampPrizeCapOf({ terms: { ...TERMS, integrityTier } }, CEILINGS);
    expect([capIn(1), capIn(2), capIn(3)]).toEqual([500n, 5_000n, 50_000n]);
    expect(rampPrizeCapOf(LIVE_CHALLENGE, [cents(2_499n), cents(1n), cents(1n)])).toBe(499n);
  });

  it('the ramp shows the full prize, while an attempt freezes the capped prize', () => {
    expect(rampOf(SEEDED, CEILINGS)).toEqual({ fullPrizeCents: 2_000n, attemptsSeen: 12, attemptsRequired: 100 });
    expect(attemptOfferOf(SEEDED, CEILINGS)).toEqual({ feeCents: 100n, prizeCents: 500n, threshold: 100 });
    expect(RAMP_ATTEMPTS).toBe(100);
  });

  it('a completed ramp is shown with exactly the attempts that it required', () => {
    fc.assert(
      fc.property(challenge, ceilings, (one, tiers) => {
        const [so, now] = [rampSoFar(one, tiers), rampOf(one, tiers)];
        if (one.rampCompletedAt === null) expect(so).toEqual(now);
        else {
          expect(now).toBeNull();
          const before = rampOf({ ...one, rampCompletedAt: null }, tiers);
          expect(so).toEqual(before === null ? null : { ...before, attemptsSeen: RAMP_ATTEMPTS });
        }
      }),
    );
  });

  it('the ramp is shown only while it limits the prize', () => {
    const withPrize = (prizeCents: bigint) => ({ ...SEEDED, terms: { ...TERMS, prizeCents: cents(prizeCents) } });
    const unlimited = [
      LIVE_CHALLENGE,
      { ...SEEDED, rampCompletedAt: NOW },
      { ...CALIBRATING_CHALLENGE, calibrationSource: 'partner_seeded' as const },
      { ...TOP_N_CHALLENGE, nthBestScore: 7, calibrationSource: 'listened' as const },
      withPrize(500n),
    ];
    for (const one of unlimited) {
      expect(rampOf(one, CEILINGS)).toBeNull();
      expect(prizeOnOffer(one, CEILINGS)).toBe(one.terms.prizeCents);
    }
    expect(rampOf(withPrize(501n), CEILINGS)).not.toBeNull();
    for (const calibrationSource of ['observed', 'listened', 'partner_seeded', 'rung_derived'] as const) {
      const ramped: Challenge = { ...SEEDED, calibrationSource };
      expect(rampOf(ramped, CEILINGS)).not.toBeNull();
    }
  });

  it('the ramp ends when the monitor completes it, whatever the number of attempts', () => {
    expect(rampOf({ ...SEEDED, attemptsSeen: 100 }, CEILINGS)).not.toBeNull();
    expect(rampOf({ ...SEEDED, attemptsSeen: 1, rampCompletedAt: NOW }, CEILINGS)).toBeNull();
  });

  it('the prize on offer never exceeds the full prize or the cap of an uncompleted ramp', () => {
    fc.assert(
      fc.property(challenge, ceilings, (any, limits) => {
        const offered = prizeOnOffer(any, limits);
        const ramp = rampOf(any, limits);
        expect(offered <= any.terms.prizeCents).toBe(true);
        expect(attemptOfferOf(any, limits).prizeCents).toBe(offered);
        if (any.hasRamp && any.rampCompletedAt === null) {
          expect(offered <= rampPrizeCapOf(any, limits)).toBe(true);
        }
        expect(ramp === null).toBe(offered === any.terms.prizeCents);
        if (ramp !== null)
          expect([ramp.fullPrizeCents, ramp.attemptsSeen]).toEqual([any.terms.prizeCents, any.attemptsSeen]);
      }),
    );
  });
});
