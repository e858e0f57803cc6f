import { cents } from '@laurel/values/money';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ChargedFees, chargeableCents, exceedsFeeLimit, NO_FEE_LIMIT, withFee } from './fee-limit.ts';
import { limitsInForce } from './program-limits.ts';

const amounts = fc.bigInt({ min: 0n, max: 300_00n }).map(cents);
const fees = fc.bigInt({ min: 1n, max: 300_00n }).map(cents);

describe('the limit of what a program charges an account', () => {
  it('without a limit every fee may be charged', () => {
    expect(exceedsFeeLimit(NO_FEE_LIMIT, cents(1_000_000_00n))).toBe(false);
    expect(chargeableCents(NO_FEE_LIMIT)).toBeNull();
  });

  it('the chargeable amount is never negative, even if the limit was lowered below the charged fees', () => {
    expect(chargeableCents({ chargedCents: cents(10_00n), limitCents: cents(5_00n) })).toBe(0n);
  });

  it('a fee exceeds the limit exactly if it is above the chargeable amount', () => {
    fc.assert(
      fc.property(amounts, amounts, fees, (chargedCents, limitCents, feeCents) => {
        const charged = { chargedCents, limitCents };
        expect(exceedsFeeLimit(charged, feeCents)).toBe(feeCents > (chargeableCents(charged) ?? 0n));
      }),
    );
  });

  it('charged fees never exceed the limit, whatever the fees', () => {
    fc.assert(
      fc.property(fc.array(fees, { maxLength: 30 }), amounts, (wanted, limitCents) => {
        let charged: ChargedFees = { chargedCents: cents(0n), limitCents };
        for (const feeCents of wanted) {
          if (!exceedsFeeLimit(charged, feeCents)) charged = withFee(charged, feeCents);
        }
        expect(charged.chargedCents).toBeLessThanOrEqual(limitCents);
      }),
    );
  });
});

describe('the limits in force of a program', () => {
  const defaults = { payoutCents: cents(5_000_00n), feeCents: cents(200_00n) };
  const none = { payoutCents: null, feeCents: null };

  it('a program without limits from an operator has the defaults in live and no limit in test', () => {
    expect(limitsInForce('live', none, defaults)).toEqual(defaults);
    expect(limitsInForce('test', none, defaults)).toEqual(none);
  });

  it('a limit set by an operator applies in both environments, even a limit of zero', () => {
    for (const environment of ['test', 'live'] as const) {
      const set = { payoutCents: cents(0n), feeCents: cents(1_00n) };
      expect(limitsInForce(environment, set, defaults)).toEqual(set);
    }
  });
});
