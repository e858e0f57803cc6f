import { describe, expect, test } from 'vitest';
import { barWords, driftWords, formatOdds, histogramNote, passRateWords, statusWords } from './challenge-words.ts';

describe('the bar', () => {
  const terms = {
    threshold: 1_250,
    threshold_direction: 'higher_is_better',
    metric_unit: 'points',
    prize_structure: 'threshold',
    top_n: null,
  } as const;

  test.each([
    [terms, '1,250 points or more'],
    [{ ...terms, threshold_direction: 'lower_is_better', metric_unit: 's', threshold: 42.5 }, '42.5 s or less'],
    [{ ...terms, threshold: null }, 'Not yet placed'],
    [{ ...terms, threshold: null, prize_structure: 'top_n', top_n: 10 }, 'One of the best 10 scores'],
  ] as const)('the bar %o reads as "%s"', (bar, words) => {
    expect(barWords(bar)).toBe(words);
  });
});

test('a suspension names its cause', () => {
  expect(statusWords({ status: 'suspended' }, 'drift')).toContain('awards that are won meanwhile are held');
  expect(statusWords({ status: 'suspended' }, 'operator')).not.toContain('held');
  expect(statusWords({ status: 'suspended' })).toContain('operator');
});

describe('the scores of a histogram', () => {
  test.each([
    ['bar_samples', true, 'All 1,200 scores that place the bar.'],
    ['bar_samples', false, 'The latest 1,200 of the scores that place the bar. Older ones are not counted here.'],
    ['paid_attempts', true, 'The scores of all 1,200 settled paid attempts.'],
    [
      'paid_attempts',
      false,
      'The scores of 1,200 settled paid attempts: those of the players with the newest accounts, which says nothing about their scores. Others are not counted here.',
    ],
  ] as const)('the note of a histogram says which scores were counted: %s, complete: %s', (source, complete, words) => {
    expect(histogramNote({ source, complete, count: 1_200 })).toBe(words);
  });
});

describe('the pass rate', () => {
  const rate = { target: 0.2, attempts: 100, passes: 20, observed: 0.2, low: 0.13, high: 0.29, over_time: [] };

  test.each([
    [rate, 'which includes the target of 20.0 %'],
    [{ ...rate, low: 0.21 }, 'above the target of 20.0 %'],
    [{ ...rate, high: 0.19 }, 'below the target of 20.0 %'],
    [{ ...rate, low: 0.2, high: 0.2 }, 'which includes the target of 20.0 %'],
    [{ ...rate, attempts: 0, passes: 0, observed: null, low: null, high: null }, 'No paid attempt has settled'],
  ])('the pass rate %o reads as "%s"', (one, words) => {
    expect(passRateWords(one, { status: 'live', prize_structure: 'threshold' })).toContain(words);
  });

  test('the page says why a challenge without a bar has no pass rate', () => {
    const none = { ...rate, attempts: 0, passes: 0, observed: null, low: null, high: null };
    expect(passRateWords(none, { status: 'calibrating', prize_structure: 'threshold' })).toContain('no bar yet');
    expect(passRateWords(none, { status: 'live', prize_structure: 'top_n' })).toContain('Every win makes');
  });
});

describe('the evidence of the drift monitor', () => {
  const drift = {
    started_at: '2026-11-21T12:00:00.000Z',
    attempts: 50,
    passes: 10,
    evidence_above: -2,
    evidence_below: -3,
    limit: Math.log(2_000),
    readings: [],
  };

  test.each([
    [{ ...drift, attempts: 49 }, 'judges from the 50th settled paid attempt on; so far there are 49'],
    [drift, 'Nothing suggests that the bar is too easy or too hard'],
    [
      { ...drift, evidence_above: Math.log(12) },
      'The strongest evidence is 12 : 1 that the bar is too easy. At 2,000 : 1',
    ],
    [{ ...drift, evidence_below: Math.log(30) }, 'The strongest evidence is 30 : 1 that the bar is too hard'],
    [{ ...drift, evidence_below: 8 }, 'too hard is 2,981 : 1, above the limit of 2,000 : 1'],
  ])('the drift monitor’s evidence %o reads as "%s"', (one, words) => {
    expect(driftWords(one)).toContain(words);
  });

  test.each([
    [0, '1 : 1'],
    [Math.log(2_000), '2,000 : 1'],
    [-Math.log(12), '1 : 12'],
    [100, 'over 1,000,000 : 1'],
    [-100, '1 : over 1,000,000'],
  ])('a logarithm of %d has the odds %s', (log, odds) => {
    expect(formatOdds(log)).toBe(odds);
  });
});
