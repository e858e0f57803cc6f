import { describe, expect, it } from 'vitest';
import { barOf, calibrationProgressOf, statusOf } from './current-bar.ts';
import { CALIBRATING_CHALLENGE, LIVE_CHALLENGE, TOP_N_CHALLENGE } from './example.ts';

describe('the bar', () => {
  it('the bar of a top_n challenge is its n-th best score', () => {
    expect(barOf(LIVE_CHALLENGE)).toBe(100);
    expect(barOf(CALIBRATING_CHALLENGE)).toBeNull();
    expect(barOf(TOP_N_CHALLENGE)).toBeNull();
    expect(barOf({ ...TOP_N_CHALLENGE, nthBestScore: 7 })).toBe(7);
  });

  it('a top_n challenge is live with a bar and calibrating without one', () => {
    expect(statusOf(TOP_N_CHALLENGE)).toBe('calibrating');
    expect(statusOf({ ...TOP_N_CHALLENGE, nthBestScore: 7 })).toBe('live');
    expect(statusOf({ ...TOP_N_CHALLENGE, status: 'suspended' })).toBe('suspended');
    expect(statusOf({ ...CALIBRATING_CHALLENGE, status: 'closed' })).toBe('closed');
  });
});

describe('the progress of a calibration', () => {
  it('the progress of a calibration is shown only while the challenge calibrates', () => {
    const collected = { collected: 5, playersCollected: 2 };
    expect(calibrationProgressOf(LIVE_CHALLENGE)).toBeNull();
    expect(calibrationProgressOf({ ...CALIBRATING_CHALLENGE, ...collected })).toEqual({
      ...collected,
      required: 200,
      playersRequired: 20,
    });
  });

  it('a top_n calibration needs n scores, from any number of players', () => {
    expect(calibrationProgressOf({ ...TOP_N_CHALLENGE, collected: 2, playersCollected: 1 })).toEqual({
      collected: 2,
      required: 3,
      playersCollected: 1,
      playersRequired: 1,
    });
  });
});
