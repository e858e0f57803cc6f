import { describe, expect, it } from 'vitest';
import { issuesOfNewChallenge, type NewChallenge, rungOf } from './challenge-terms.ts';
import { LIVE, TENANT, TERMS } from './example.ts';

function issuesOf(changes: Partial<NewChallenge> = {}) {
  return issuesOfNewChallenge({ tenant: TENANT, terms: TERMS, status: 'live', threshold: 1, parent: null, ...changes });
}

describe('a new challenge', () => {
  it('a new challenge is live with a threshold, calibrating without one, and top_n without one in either case', () => {
    const topN = { ...TERMS, prizeStructure: 'top_n' as const, topN: 1 };
    expect(issuesOf()).toEqual([]);
    expect(issuesOf({ status: 'calibrating', threshold: null })).toEqual([]);
    expect(issuesOf({ terms: topN, threshold: null })).toEqual([]);
    expect(issuesOf({ terms: topN, status: 'calibrating', threshold: null })).toEqual([]);
    expect(issuesOf({ terms: topN })).toHaveLength(1);
    expect(issuesOf({ threshold: null })).toHaveLength(1);
    expect(issuesOf({ status: 'calibrating' })).toHaveLength(1);
  });

  it('a new challenge is one rung above a parent of its own tenant and direction', () => {
    const terms = { ...TERMS, parentChallengeId: LIVE.id };
    expect(issuesOf({ terms, parent: LIVE })).toEqual([]);
    expect(issuesOf({ terms, parent: null })).toHaveLength(1);
    expect(issuesOf({ terms, parent: { ...LIVE, tenant: { ...TENANT, environment: 'test' } } })).toHaveLength(1);
    expect(issuesOf({ terms: { ...terms, direction: 'lower_is_better' }, parent: LIVE })).toHaveLength(1);
    expect(rungOf(null)).toBe(1);
    expect(rungOf({ ...LIVE, rung: 4 })).toBe(5);
  });

  it('a new challenge reports every validation issue', () => {
    expect(issuesOf({ terms: { ...TERMS, name: 'a\0b', targetPassRate: 2, scoreMin: Number.NaN } })).toHaveLength(3);
  });
});
