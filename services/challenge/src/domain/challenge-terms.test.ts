import { describe, expect, it } from 'vitest';
import {
  issueOfDerivedBar,
  issuesOfNewChallenge,
  type NewChallenge,
  parentOfDerivedRung,
  rungOf,
} from './challenge-terms.ts';
import { LIVE_CHALLENGE, TENANT, TERMS } from './example.ts';

function issuesOf(changes: Partial<NewChallenge> = {}) {
  return issuesOfNewChallenge({ tenant: TENANT, terms: TERMS, status: 'live', threshold: 1, parent: null, ...changes });
}

describe('a new challenge', () => {
  it('texts of a proposed challenge have up to 255 characters, an emoji counting as one', () => {
    for (const field of ['name', 'metricName', 'metricUnit'] as const) {
      expect(issuesOf({ terms: { ...TERMS, [field]: '🎯'.repeat(255) } })).toEqual([]);
      for (const wrong of ['🎯'.repeat(256), '', 'a\0', '\ud83d']) {
        expect(issuesOf({ terms: { ...TERMS, [field]: wrong } })).toHaveLength(1);
      }
    }
    expect(issuesOf({ terms: { ...TERMS, description: '🎯'.repeat(2_000) } })).toEqual([]);
    expect(issuesOf({ terms: { ...TERMS, description: '🎯'.repeat(2_001) } })).toHaveLength(1);
  });

  it('a challenge may be opened live exactly if it has a threshold or is a top_n challenge', () => {
    const topN = { ...TERMS, prizeStructure: 'top_n' as const, topN: 1 };
    expect(issuesOf()).toEqual([]);
    expect(issuesOf({ status: 'calibrating', threshold: null })).toEqual([]);
    expect(issuesOf({ terms: topN, threshold: null })).toEqual([]);
    expect(issuesOf({ terms: topN, status: 'calibrating', threshold: null })).toEqual([]);
    expect(issuesOf({ terms: topN })).toHaveLength(1);
    expect(issuesOf({ threshold: null })).toHaveLength(1);
    expect(issuesOf({ status: 'calibrating' })).toHaveLength(1);
  });

  it('a rung must have the tenant and the direction of its parent', () => {
    const terms = { ...TERMS, parentChallengeId: LIVE_CHALLENGE.id };
    expect(issuesOf({ terms, parent: LIVE_CHALLENGE })).toEqual([]);
    expect(issuesOf({ terms, parent: null })).toHaveLength(1);
    expect(issuesOf({ terms, parent: { ...LIVE_CHALLENGE, tenant: { ...TENANT, environment: 'test' } } })).toHaveLength(
      1,
    );
    expect(issuesOf({ terms: { ...terms, direction: 'lower_is_better' }, parent: LIVE_CHALLENGE })).toHaveLength(1);
    expect(rungOf(null)).toBe(1);
    expect(rungOf({ ...LIVE_CHALLENGE, rung: 4 })).toBe(5);
  });

  it('a rung may be live without a threshold if its parent has the same metric and a higher pass rate', () => {
    const terms = { ...TERMS, parentChallengeId: LIVE_CHALLENGE.id, targetPassRate: 0.1 };
    const derived = { terms, threshold: null, parent: LIVE_CHALLENGE };
    expect(issuesOf(derived)).toEqual([]);
    expect(parentOfDerivedRung({ ...derived, status: 'live' })).toBe(LIVE_CHALLENGE);
    const bad = [{ targetPassRate: 0.2 }, { targetPassRate: 0.3 }, { metricName: 'time' }, { metricUnit: 'km' }];
    for (const changes of bad) {
      expect(issuesOf({ ...derived, terms: { ...terms, ...changes } })).toHaveLength(1);
      // A rung that brings its own threshold, or calibrates, may differ from its parent in all of
      // these.
      expect(issuesOf({ ...derived, terms: { ...terms, ...changes }, threshold: 1 })).toEqual([]);
      expect(issuesOf({ ...derived, terms: { ...terms, ...changes }, status: 'calibrating' })).toEqual([]);
    }
    expect(parentOfDerivedRung({ ...derived, status: 'live', threshold: 1 })).toBeNull();
    expect(parentOfDerivedRung({ ...derived, status: 'calibrating' })).toBeNull();
    const topN = { ...terms, prizeStructure: 'top_n' as const, topN: 1 };
    expect(parentOfDerivedRung({ ...derived, status: 'live', terms: topN })).toBeNull();
  });

  it('a derived bar must exist and be inside the plausible window of its rung', () => {
    expect(issueOfDerivedBar(null, TERMS)).not.toBeNull();
    expect(issueOfDerivedBar(5, TERMS)).toBeNull();
    expect(issueOfDerivedBar(5, { ...TERMS, scoreMin: 5, scoreMax: 5 })).toBeNull();
    expect(issueOfDerivedBar(5, { ...TERMS, scoreMin: 5.1 })).not.toBeNull();
  });

  it('the counts of a new challenge are 1 to 1,000,000, and its jurisdictions at most 300', () => {
    for (const field of ['minCalibrationPlayers', 'dailyAttemptCap'] as const) {
      for (const count of [1, 1_000_000]) expect(issuesOf({ terms: { ...TERMS, [field]: count } })).toEqual([]);
      for (const count of [0, 1.5, 1_000_001])
        expect(issuesOf({ terms: { ...TERMS, [field]: count } })).toHaveLength(1);
    }
    const offeredIn = (jurisdictions: number) =>
      issuesOf({ terms: { ...TERMS, jurisdictions: Array<string>(jurisdictions).fill('GB') } });
    expect(offeredIn(300)).toEqual([]);
    expect(offeredIn(301)).toEqual(['jurisdictions may be at most 300']);
  });

  it('a new challenge reports every validation issue', () => {
    expect(issuesOf({ terms: { ...TERMS, name: 'a\0b', targetPassRate: 2, scoreMin: Number.NaN } })).toHaveLength(3);
  });
});
