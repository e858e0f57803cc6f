import { cents } from '@laurel/money';
import { describe, expect, it } from 'vitest';
import { ATTEMPT, ATTEMPT_TERMS, NOW, TENANT } from './example.ts';
import { decideOutcome } from './outcome-decision.ts';

const HOUR_MS = 3_600_000;

function decide(changes: Partial<Parameters<typeof decideOutcome>[0]> = {}) {
  const decision = decideOutcome({
    tenant: TENANT,
    attempt: ATTEMPT,
    terms: ATTEMPT_TERMS,
    score: 100,
    feePosted: false,
    ttlMs: HOUR_MS,
    now: NOW,
    ...changes,
  });
  return decision.kind === 'refused' ? decision.code : decision;
}

describe('a report', () => {
  it('settles an open attempt by the bar and the prize that were frozen on it', () => {
    expect(decide()).toEqual({ kind: 'settled', metThreshold: true, claimsPrize: true });
    expect(decide({ score: 99 })).toEqual({ kind: 'settled', metThreshold: false, claimsPrize: false });
    const free = { ...ATTEMPT, feeCents: cents(0n), prizeCents: cents(0n), threshold: null };
    expect(decide({ attempt: free })).toEqual({ kind: 'settled', metThreshold: false, claimsPrize: false });
  });

  it('finds nothing where there is no attempt, another tenant asks, or it was refused', () => {
    expect(decide({ attempt: null, terms: null })).toBe('not_found');
    expect(decide({ tenant: { ...TENANT, environment: 'test' } })).toBe('not_found');
    expect(decide({ attempt: { ...ATTEMPT, status: 'refused' } })).toBe('not_found');
  });

  it('waits for the fee, unless it is known to be posted', () => {
    const pending = { ...ATTEMPT, status: 'pending' as const };
    expect(decide({ attempt: pending })).toEqual({ kind: 'unresolved' });
    expect(decide({ attempt: pending, feePosted: true })).toMatchObject({ kind: 'settled' });
  });

  it('comes too late for an attempt that is over, marked or not', () => {
    for (const status of ['expiring', 'expired', 'voiding', 'voided'] as const) {
      expect(decide({ attempt: { ...ATTEMPT, status } })).toBe('attempt_already_settled');
    }
    expect(decide({ attempt: { ...ATTEMPT, status: 'settled' } })).toEqual({ kind: 'settled_before' });
    expect(decide({ now: new Date(NOW.getTime() + HOUR_MS) })).toEqual({ kind: 'due' });
    expect(decide({ now: new Date(NOW.getTime() + HOUR_MS - 1) })).toMatchObject({ kind: 'settled' });
  });

  it('spoils the attempt with an implausible score, and a spoiled one refuses a good score too', () => {
    const terms = { ...ATTEMPT_TERMS, scoreMax: 50 };
    expect(decide({ terms })).toEqual({ kind: 'spoiled' });
    expect(decide({ attempt: { ...ATTEMPT, spoiledAt: NOW } })).toBe('score_out_of_range');
  });

  it('is told that the attempt is over before it is told that its score is bad', () => {
    const terms = { ...ATTEMPT_TERMS, scoreMax: 50 };
    expect(decide({ terms, attempt: { ...ATTEMPT, status: 'expired' } })).toBe('attempt_already_settled');
    expect(decide({ terms, now: new Date(NOW.getTime() + HOUR_MS) })).toEqual({ kind: 'due' });
  });
});
