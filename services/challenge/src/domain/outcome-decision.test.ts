import { cents } from '@laurel/values/money';
import { describe, expect, it } from 'vitest';
import { ATTEMPT, ATTEMPT_TERMS, NOW, TENANT } from './example.ts';
import { decideCachedOutcomes, decideOutcome, decideOutcomes, type OutcomeReport } from './outcome-decision.ts';

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
  it('a report settles an open attempt by the bar and the prize that were frozen on it', () => {
    expect(decide()).toEqual({ kind: 'settled', metThreshold: true, claimsPrize: true });
    expect(decide({ score: 99 })).toEqual({ kind: 'settled', metThreshold: false, claimsPrize: false });
    const free = { ...ATTEMPT, feeCents: cents(0n), prizeCents: cents(0n), threshold: null };
    expect(decide({ attempt: free })).toEqual({ kind: 'settled', metThreshold: false, claimsPrize: false });
  });

  it('a report is not found for an unknown attempt, another tenant, or a refused attempt', () => {
    expect(decide({ attempt: null, terms: null })).toBe('not_found');
    expect(decide({ tenant: { ...TENANT, environment: 'test' } })).toBe('not_found');
    expect(decide({ attempt: { ...ATTEMPT, status: 'refused' } })).toBe('not_found');
  });

  it('a report on a pending attempt is not decided until the fee is known to be posted', () => {
    const pending = { ...ATTEMPT, status: 'pending' as const };
    expect(decide({ attempt: pending })).toEqual({ kind: 'unresolved' });
    expect(decide({ attempt: pending, feePosted: true })).toMatchObject({ kind: 'settled' });
  });

  it('a report on an attempt that has ended is too late, even if its row is not marked', () => {
    for (const status of ['expiring', 'expired', 'voiding', 'voided'] as const) {
      expect(decide({ attempt: { ...ATTEMPT, status } })).toBe('attempt_already_settled');
    }
    expect(decide({ attempt: { ...ATTEMPT, status: 'settled' } })).toEqual({ kind: 'settled_before' });
    expect(decide({ now: new Date(NOW.getTime() + HOUR_MS) })).toEqual({ kind: 'due' });
    expect(decide({ now: new Date(NOW.getTime() + HOUR_MS - 1) })).toMatchObject({ kind: 'settled' });
  });

  it('a disqualified attempt refuses every later score, even a plausible one', () => {
    const terms = { ...ATTEMPT_TERMS, scoreMax: 50 };
    expect(decide({ terms })).toEqual({ kind: 'disqualified' });
    expect(decide({ attempt: { ...ATTEMPT, disqualifiedAt: NOW } })).toBe('score_out_of_range');
  });

  it('a report on an ended attempt is refused because of the end, even if its score is implausible', () => {
    const terms = { ...ATTEMPT_TERMS, scoreMax: 50 };
    expect(decide({ terms, attempt: { ...ATTEMPT, status: 'expired' } })).toBe('attempt_already_settled');
    expect(decide({ terms, now: new Date(NOW.getTime() + HOUR_MS) })).toEqual({ kind: 'due' });
  });
});

describe('a batch of reports', () => {
  const RULES = { ttlMs: HOUR_MS, now: NOW };
  const report = (changes: Partial<OutcomeReport> = {}): OutcomeReport => ({
    operationId: 'operation',
    attemptId: ATTEMPT.id,
    tenant: TENANT,
    score: 100,
    evidence: '',
    idempotencyUse: null,
    ...changes,
  });
  const terms = { ...ATTEMPT_TERMS, scoreMin: 0 };
  const found = { attempt: ATTEMPT, terms };
  const other = { attempt: { ...ATTEMPT, id: 'other' }, terms };
  const LOCKED = { feePosted: false, settledByOperation: null };

  it('only the first report of a batch on an attempt settles the attempt', () => {
    const batch = [report(), report({ score: 1 }), report({ attemptId: 'other', operationId: 'another' })];
    const decisions = decideOutcomes(
      batch.map((one, index) => ({ report: one, found: index === 2 ? other : found, ...LOCKED })),
      RULES,
    );
    const settled = { kind: 'settled', metThreshold: true, claimsPrize: true };
    expect(decisions).toEqual([
      { ...settled, report: batch[0], found },
      { kind: 'settled_before' },
      { ...settled, report: batch[2], found: other },
    ]);
  });

  it('a batch refuses every score on an attempt that it has disqualified', () => {
    const batch = [report({ score: -1 }), report()].map((one) => ({ report: one, found, ...LOCKED }));
    expect(decideOutcomes(batch, RULES)).toMatchObject([
      { kind: 'disqualified', attemptId: ATTEMPT.id },
      { kind: 'refused', code: 'score_out_of_range' },
    ]);
  });

  it.each([100, -1])(
    'an operation that settled another attempt cannot settle or disqualify this one, with a score of %i',
    (score) => {
      const onOther = report({ attemptId: 'other', score });
      const refusal = { kind: 'refused', code: 'attempt_already_settled' };
      const before = [{ report: onOther, found: other, ...LOCKED, settledByOperation: ATTEMPT.id }];
      expect(decideOutcomes(before, RULES)).toMatchObject([refusal]);
      const within = [
        { report: report(), found, ...LOCKED },
        { report: onOther, found: other, ...LOCKED },
        { report: report({ attemptId: 'other', operationId: 'another' }), found: other, ...LOCKED },
      ];
      expect(decideOutcomes(within, RULES)).toMatchObject([{ kind: 'settled' }, refusal, { kind: 'settled' }]);
    },
  );

  it('a batch of reports returns not_found for an unknown attempt', () => {
    const batch = [{ report: report(), found: null, ...LOCKED, feePosted: true }];
    expect(decideOutcomes(batch, RULES)).toMatchObject([{ kind: 'refused', code: 'not_found' }]);
  });

  it('a cached attempt and its row give the same decisions if no rule refuses', () => {
    const batch = [
      { report: report({ score: 99 }), found },
      { report: report({ attemptId: 'other', operationId: 'another' }), found: other },
    ];
    expect(decideCachedOutcomes(batch, RULES)).toEqual(
      decideOutcomes(
        batch.map((one) => ({ ...one, ...LOCKED })),
        RULES,
      ),
    );
  });

  it('a batch on the cache settles one report per attempt and one claim per account and challenge', () => {
    const batch = [
      { report: report(), found },
      { report: report({ score: 1 }), found },
      { report: report({ attemptId: 'other' }), found: other },
      {
        report: report({ attemptId: 'another', score: 1 }),
        found: { ...other, attempt: { ...ATTEMPT, id: 'another' } },
      },
    ];
    const decisions = decideCachedOutcomes(batch, RULES);
    expect(decisions.map((decision) => decision?.report.attemptId ?? null)).toEqual([
      ATTEMPT.id,
      null,
      null,
      'another',
    ]);
  });

  it('a report that might be refused is not decided on the cache', () => {
    const topN = { attempt: ATTEMPT, terms: { ...terms, prizeStructure: 'top_n' as const } };
    const free = { ...ATTEMPT, threshold: null };
    const left = [
      { report: report(), found: null },
      { report: report({ tenant: { ...TENANT, programId: 'other' } }), found },
      { report: report(), found: { attempt: { ...ATTEMPT, createdAt: new Date(NOW.getTime() - HOUR_MS) }, terms } },
      { report: report({ score: -1 }), found },
      { report: report(), found: topN },
      { report: report(), found: { attempt: free, terms } },
    ];
    for (const one of left) expect(decideCachedOutcomes([one], RULES)).toEqual([null]);
  });
});
