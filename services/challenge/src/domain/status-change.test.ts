import { describe, expect, it } from 'vitest';
import type { Challenge } from './challenge.ts';
import { CALIBRATING, LIVE, TOP_N } from './example.ts';
import { decideStatusChange } from './status-change.ts';

function change(challenge: Challenge, wanted: 'live' | 'suspended' | 'closed') {
  const decision = decideStatusChange(challenge, wanted);
  return decision.kind === 'refused' ? decision.code : decision.status;
}

describe('an operator', () => {
  it('an operator suspends and closes every challenge that is not closed', () => {
    for (const challenge of [LIVE, CALIBRATING, TOP_N]) {
      expect(change(challenge, 'suspended')).toBe('suspended');
      expect(change(challenge, 'closed')).toBe('closed');
    }
    expect(change({ ...LIVE, status: 'closed' }, 'suspended')).toBe('conflict');
    expect(change({ ...LIVE, status: 'closed' }, 'live')).toBe('conflict');
    expect(change({ ...LIVE, status: 'closed' }, 'closed')).toBe('closed');
  });

  it('an operator reinstates a challenge to its previous status', () => {
    expect(change({ ...LIVE, status: 'suspended' }, 'live')).toBe('live');
    expect(change({ ...CALIBRATING, status: 'suspended' }, 'live')).toBe('calibrating');
    expect(change({ ...TOP_N, status: 'suspended' }, 'live')).toBe('live');
    expect(change(LIVE, 'live')).toBe('live');
  });

  it('an operator cannot make a calibrating challenge live', () => {
    expect(change(CALIBRATING, 'live')).toBe('conflict');
    expect(change(TOP_N, 'live')).toBe('conflict');
  });
});
