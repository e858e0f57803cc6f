import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { clears } from './threshold.ts';

const score = fc.double({ noNaN: true, noDefaultInfinity: true });

describe('the bar', () => {
  it('the bar is cleared by a score equal to it, in both directions', () => {
    expect(clears(10, 10, 'higher_is_better')).toBe(true);
    expect(clears(10, 10, 'lower_is_better')).toBe(true);
  });

  it('the bar is cleared by a better score and missed by a worse one', () => {
    expect(clears(10.1, 10, 'higher_is_better')).toBe(true);
    expect(clears(9.9, 10, 'higher_is_better')).toBe(false);
    expect(clears(9.9, 10, 'lower_is_better')).toBe(true);
    expect(clears(10.1, 10, 'lower_is_better')).toBe(false);
  });

  it('no score clears a missing bar', () => {
    fc.assert(fc.property(score, (value) => !clears(value, null, 'higher_is_better')));
  });

  it('the rule where lower is better mirrors the rule where higher is better', () => {
    fc.assert(
      fc.property(score, score, (value, bar) => {
        expect(clears(value, bar, 'higher_is_better')).toBe(clears(-value, -bar, 'lower_is_better'));
      }),
    );
  });

  it('if a score clears the bar, every better score does too', () => {
    fc.assert(
      fc.property(score, score, score, (one, other, bar) => {
        fc.pre(clears(Math.min(one, other), bar, 'higher_is_better'));
        expect(clears(Math.max(one, other), bar, 'higher_is_better')).toBe(true);
      }),
    );
  });
});
