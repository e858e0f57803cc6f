import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TERMS } from './example.ts';
import { payoutOfRank } from './purse.ts';
import { decideTerms, type ProposedTournament } from './tournament-terms.ts';

const PROPOSED: ProposedTournament = {
  name: 'Weekend cup',
  description: null,
  metricName: 'distance',
  metricUnit: 'm',
  direction: 'higher_is_better',
  tiebreakMetricName: null,
  tiebreakDirection: null,
  entryFeeCents: 500n,
  attemptCap: 3,
  purseTable: [
    { rank: 1, amountCents: 10_000n },
    { rank: 2, amountCents: 5_000n },
    { rank: 3, amountCents: 5_000n },
  ],
  minEntrants: 2,
  minScoredAttempts: 3,
  roundLengthSeconds: 7_200,
};

function issuesOf(changes: Partial<ProposedTournament> = {}): readonly string[] {
  const decision = decideTerms({ ...PROPOSED, ...changes });
  return decision.kind === 'invalid' ? decision.issues : [];
}

function table(...amounts: readonly (readonly [number, bigint])[]) {
  return { purseTable: amounts.map(([rank, amountCents]) => ({ rank, amountCents })) };
}

describe('a proposed tournament', () => {
  it('an accepted proposal becomes the terms of the tournament', () => {
    expect(decideTerms(PROPOSED)).toEqual({ kind: 'accepted', terms: TERMS });
    expect(
      decideTerms({ ...PROPOSED, tiebreakMetricName: 'seconds', tiebreakDirection: 'lower_is_better' }),
    ).toMatchObject({ terms: { tiebreak: { metricName: 'seconds', direction: 'lower_is_better' } } });
  });

  it('a proposed purse table must name every rank from 1 on exactly once, in any order', () => {
    expect(issuesOf({ purseTable: PROPOSED.purseTable.toReversed() })).toEqual([]);
    expect(issuesOf(table([1, 1n]))).toEqual([]);
    const gap = ['purse_table must name every rank from 1 on, each once'];
    for (const ranks of [[0], [2], [1, 3], [1, 1], [1, 2, 2], [1.5], [Number.NaN]]) {
      expect(issuesOf(table(...ranks.map((rank) => [rank, 1n] as const)))).toEqual(gap);
    }
  });

  it('a proposed tournament has 1 to 5,000 paid ranks, each above 0.00 and at most the one before', () => {
    const long = (ranks: number) => table(...Array.from({ length: ranks }, (_, index) => [index + 1, 1n] as const));
    expect(issuesOf(table())).toEqual(['purse_table must have 1 to 5000 ranks']);
    expect(issuesOf(long(5_000))).toEqual([]);
    expect(issuesOf(long(5_001))).toEqual(['purse_table must have 1 to 5000 ranks']);
    expect(issuesOf(table([1, 5n], [2, 0n]))).toEqual(['every amount of purse_table must be above 0.00']);
    expect(issuesOf(table([1, 5n], [2, 6n]))).toEqual([
      'no amount of purse_table may be above the one of the rank before it',
    ]);
    const most = 99_999_999_999_999n;
    expect(issuesOf(table([1, most]))).toEqual([]);
    expect(issuesOf(table([1, most], [2, 1n]))).toEqual(['the sum of purse_table is too large']);
  });

  it('a proposed tournament has an entry fee above zero', () => {
    expect(issuesOf({ entryFeeCents: 0n })).toEqual(['entry_fee must be above 0.00']);
    expect(issuesOf({ entryFeeCents: -1n })).toEqual(['entry_fee must be above 0.00']);
    expect(issuesOf({ entryFeeCents: 1n })).toEqual([]);
    expect(issuesOf({ entryFeeCents: 100_000_000_000_000n })).toEqual(['entry_fee is too large']);
  });

  it('texts of a proposed tournament have up to 255 characters, and an emoji counts as one', () => {
    for (const field of ['name', 'metricName', 'metricUnit'] as const) {
      expect(issuesOf({ [field]: '🎯'.repeat(255) })).toEqual([]);
      for (const wrong of ['🎯'.repeat(256), '', 'a\0', '\ud83d']) expect(issuesOf({ [field]: wrong })).toHaveLength(1);
    }
    expect(issuesOf({ description: '🎯'.repeat(2_000) })).toEqual([]);
    expect(issuesOf({ description: '🎯'.repeat(2_001) })).toHaveLength(1);
  });

  it('a proposed tournament has a tiebreak with metric and direction, or none', () => {
    const both = ['tiebreak_metric_name and tiebreak_direction are set both or neither'];
    expect(issuesOf({ tiebreakMetricName: 'seconds' })).toEqual(both);
    expect(issuesOf({ tiebreakDirection: 'lower_is_better' })).toEqual(both);
    expect(issuesOf({ tiebreakMetricName: '', tiebreakDirection: 'lower_is_better' })).toHaveLength(1);
  });

  it('the length of a proposed round must keep entries open for at least a minute, and is at most a leap year', () => {
    expect(issuesOf({ roundLengthSeconds: null })).toEqual([]);
    for (const roundLengthSeconds of [660, 366 * 86_400]) expect(issuesOf({ roundLengthSeconds })).toEqual([]);
    for (const roundLengthSeconds of [659, 601, 600, 0, -1, 700.5, 366 * 86_400 + 1])
      expect(issuesOf({ roundLengthSeconds })).toHaveLength(1);
  });

  it('the numbers of a proposed tournament must be whole and within their bounds', () => {
    expect(issuesOf({ attemptCap: 1, minEntrants: 1, minScoredAttempts: 0 })).toEqual([]);
    expect(issuesOf({ attemptCap: 0, minEntrants: 0, minScoredAttempts: -1 })).toEqual([
      'attempt_cap must be 1 to 1000000',
      'min_entrants must be 1 to 1000000',
      'min_scored_attempts must be 0 to 1000000',
    ]);
    expect(issuesOf({ attemptCap: 1.5, minEntrants: Number.NaN, minScoredAttempts: 1_000_001 })).toHaveLength(3);
  });

  it('the texts of a proposed tournament have a limited number of characters', () => {
    expect(issuesOf({ name: '🏆'.repeat(255), description: '' })).toEqual([]);
    expect(issuesOf({ name: '🏆'.repeat(256) })).toEqual(['name must have 1 to 255 characters']);
    expect(issuesOf({ name: '', metricName: 'a\0b', metricUnit: '', description: 'x'.repeat(10_000) })).toHaveLength(4);
  });

  it('each rank gets its amount of the proposed purse table, in whatever order the table lists the ranks', () => {
    const amounts = fc.array(fc.bigInt({ min: 1n, max: 10n ** 9n }), { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(amounts, fc.infiniteStream(fc.nat()), (drawn, keys) => {
        const rows = drawn
          .toSorted((one, other) => (one > other ? -1 : 1))
          .map((amountCents, index) => ({ rank: index + 1, amountCents }));
        const shuffled = rows
          .map((row) => ({ row, key: keys.next().value }))
          .toSorted((one, other) => one.key - other.key)
          .map(({ row }) => row);
        const decision = decideTerms({ ...PROPOSED, purseTable: shuffled });
        if (decision.kind === 'invalid') throw new Error(decision.issues.join());
        for (const { rank, amountCents } of rows) expect(payoutOfRank(decision.terms.purse, rank)).toBe(amountCents);
      }),
    );
  });
});
