import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isPlausible } from './plausibility.ts';

const score = fc.double({ noNaN: true, noDefaultInfinity: true });

describe('the plausibility window', () => {
  it('the plausibility window includes its bounds', () => {
    expect(isPlausible(0, { scoreMin: 0, scoreMax: 100 })).toBe(true);
    expect(isPlausible(100, { scoreMin: 0, scoreMax: 100 })).toBe(true);
    expect(isPlausible(-0.001, { scoreMin: 0, scoreMax: 100 })).toBe(false);
    expect(isPlausible(100.001, { scoreMin: 0, scoreMax: 100 })).toBe(false);
  });

  it('the plausibility window has no limit on a side without a bound', () => {
    expect(isPlausible(1e300, { scoreMin: 0, scoreMax: null })).toBe(true);
    expect(isPlausible(-1e300, { scoreMin: null, scoreMax: 0 })).toBe(true);
  });

  it('the plausibility window without bounds refuses nothing', () => {
    fc.assert(fc.property(score, (value) => isPlausible(value, { scoreMin: null, scoreMax: null })));
  });

  it('the plausibility window accepts exactly the scores that each bound alone accepts', () => {
    fc.assert(
      fc.property(score, score, score, (value, scoreMin, scoreMax) => {
        const both = isPlausible(value, { scoreMin, scoreMax });
        const each =
          isPlausible(value, { scoreMin, scoreMax: null }) && isPlausible(value, { scoreMin: null, scoreMax });
        expect(both).toBe(each);
      }),
    );
  });
});
