import { cents } from '@laurel/values/money';
import { describe, expect, it } from 'vitest';
import { CEILINGS, TERMS } from './example.ts';
import { isPrizeAboveCeiling } from './tier-ceiling.ts';

describe('a prize', () => {
  it('a prize may equal the ceiling of its tier but not exceed it', () => {
    const withPrize = (prizeCents: bigint, integrityTier: number) => ({
      ...TERMS,
      prizeCents: cents(prizeCents),
      integrityTier,
    });
    expect(isPrizeAboveCeiling(withPrize(2_500n, 1), CEILINGS)).toBe(false);
    expect(isPrizeAboveCeiling(withPrize(2_501n, 1), CEILINGS)).toBe(true);
    expect(isPrizeAboveCeiling(withPrize(2_501n, 2), CEILINGS)).toBe(false);
    expect(isPrizeAboveCeiling(withPrize(250_001n, 3), CEILINGS)).toBe(true);
  });
});
