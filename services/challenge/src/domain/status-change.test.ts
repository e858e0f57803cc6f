import { describe, expect, it } from 'vitest';
import type { Challenge } from './challenge.ts';
import { CALIBRATING_CHALLENGE, LIVE_CHALLENGE, TOP_N_CHALLENGE } from './example.ts';
import { decideStatusChange } from './status-change.ts';

const BY_OPERATOR = { note: null, suspendedBy: 'operator' } as const;

function change(
  challenge: Challenge,
  wanted: 'live' | 'suspended' | 'closed',
  history: Parameters<typeof decideStatusChange>[2] = BY_OPERATOR,
) {
  const decision = decideStatusChange(challenge, wanted, history);
  return decision.kind === 'refused' ? decision.code : decision.status;
}

describe('an operator', () => {
  it('an operator may suspend or close every challenge that is not closed', () => {
    for (const challenge of [LIVE_CHALLENGE, CALIBRATING_CHALLENGE, TOP_N_CHALLENGE]) {
      expect(change(challenge, 'suspended')).toBe('suspended');
      expect(change(challenge, 'closed')).toBe('closed');
    }
    expect(change({ ...LIVE_CHALLENGE, status: 'closed' }, 'suspended')).toBe('conflict');
    expect(change({ ...LIVE_CHALLENGE, status: 'closed' }, 'live')).toBe('conflict');
    expect(change({ ...LIVE_CHALLENGE, status: 'closed' }, 'closed')).toBe('closed');
  });

  it('a reinstated challenge gets its previous status', () => {
    expect(change({ ...LIVE_CHALLENGE, status: 'suspended' }, 'live')).toBe('live');
    expect(change({ ...CALIBRATING_CHALLENGE, status: 'suspended' }, 'live')).toBe('calibrating');
    expect(change({ ...TOP_N_CHALLENGE, status: 'suspended' }, 'live')).toBe('live');
    expect(change(LIVE_CHALLENGE, 'live')).toBe('live');
  });

  it('an operator needs a note to reinstate a challenge that the drift monitor suspended', () => {
    const suspended: Challenge = { ...LIVE_CHALLENGE, status: 'suspended' };
    expect(change(suspended, 'live', { note: null, suspendedBy: 'drift' })).toBe('invalid_request');
    expect(change(suspended, 'live', { note: 'The game was patched.', suspendedBy: 'drift' })).toBe('live');
    expect(change(suspended, 'closed', { note: null, suspendedBy: 'drift' })).toBe('closed');
    expect(change(suspended, 'suspended', { note: null, suspendedBy: 'drift' })).toBe('suspended');
  });

  it('an operator cannot make a calibrating challenge live', () => {
    expect(change(CALIBRATING_CHALLENGE, 'live')).toBe('conflict');
    expect(change(TOP_N_CHALLENGE, 'live')).toBe('conflict');
  });
});
