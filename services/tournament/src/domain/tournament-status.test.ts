import { describe, expect, it } from 'vitest';
import type { TournamentStatus } from './tournament.ts';
import { decideStatusChange } from './tournament-status.ts';

const STATUSES: readonly TournamentStatus[] = ['active', 'paused', 'closed'];

describe('the status of a tournament', () => {
  it('an operator may change the status of a tournament until the tournament is closed', () => {
    for (const wanted of STATUSES) {
      for (const status of ['active', 'paused'] as const) {
        expect(decideStatusChange(status, wanted)).toEqual({ kind: 'changed', status: wanted });
      }
    }
    expect(decideStatusChange('closed', 'closed')).toEqual({ kind: 'changed', status: 'closed' });
    for (const wanted of ['active', 'paused'] as const) {
      expect(decideStatusChange('closed', wanted)).toMatchObject({ kind: 'refused', code: 'conflict' });
    }
  });
});
