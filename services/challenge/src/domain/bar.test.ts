import { describe, expect, it } from 'vitest';
import { barOf, calibrationProgressOf, statusOf } from './bar.ts';
import { CALIBRATING, LIVE, TOP_N } from './example.ts';

describe('the bar', () => {
  it('the bar is the threshold, or the n-th best score of a top_n challenge', () => {
    expect(barOf(LIVE)).toBe(100);
    expect(barOf(CALIBRATING)).toBeNull();
    expect(barOf(TOP_N)).toBeNull();
    expect(barOf({ ...TOP_N, nthBestScore: 7 })).toBe(7);
  });

  it('a top_n challenge is live with a bar and calibrating without one; a suspended or closed one has that status in either case', () => {
    expect(statusOf(TOP_N)).toBe('calibrating');
    expect(statusOf({ ...TOP_N, nthBestScore: 7 })).toBe('live');
    expect(statusOf({ ...TOP_N, status: 'suspended' })).toBe('suspended');
    expect(statusOf({ ...CALIBRATING, status: 'closed' })).toBe('closed');
  });
});

describe('the progress of a calibration', () => {
  it('the progress of a calibration is shown only while calibrating', () => {
    const collected = { collected: 5, playersCollected: 2 };
    expect(calibrationProgressOf(LIVE)).toBeNull();
    expect(calibrationProgressOf({ ...CALIBRATING, ...collected })).toEqual({
      ...collected,
      required: 200,
      playersRequired: 20,
    });
  });

  it('the progress of a top_n calibration counts n scores, from any number of players', () => {
    expect(calibrationProgressOf({ ...TOP_N, collected: 2, playersCollected: 1 })).toEqual({
      collected: 2,
      required: 3,
      playersCollected: 1,
      playersRequired: 1,
    });
  });
});
