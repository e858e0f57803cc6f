import { cents } from '@laurel/values/money';
import { describe, expect, it } from 'vitest';
import { NOW, standingOf } from './example.ts';
import { decideVisibility, neighbourRows, tableRows } from './leaderboard-view.ts';
import type { Entry, RoundStatus, Standing } from './tournament.ts';

const RUNNING = ['open', 'settling'] as const;
const CANCELLED = ['cancelling', 'cancelled'] as const;
const EVERY_STATUS: readonly RoundStatus[] = [...RUNNING, 'settled', ...CANCELLED];

const ENTRY: Entry = { id: 'entry', roundId: 'round', accountId: 'account', boughtAt: NOW, best: null };
const SCORED: Entry = { ...ENTRY, best: standingOf('own').best };

const UNDECIDED = { finalRank: null, payoutCents: null, payoutStatus: 'none' };

function rowOf(name: string, rank: number) {
  return {
    entryId: standingOf(name).entryId,
    rank,
    playerRef: name,
    bestScore: 10,
    bestTiebreak: null,
    bestScoreAt: NOW,
    paidAttempts: 1,
  };
}

function settledAt(rank: number, changes: Partial<Standing>): Standing {
  return standingOf(`rank ${rank}`, { finalRank: rank, ...changes });
}

describe('a board', () => {
  it('a board shows no row to a viewer who has not paid, in any state of the round', () => {
    for (const status of EVERY_STATUS) {
      const withoutEntry = decideVisibility(status, null);
      expect(withoutEntry).toEqual({ kind: 'masked' });
      expect(decideVisibility(status, { ...ENTRY, boughtAt: null })).toEqual(withoutEntry);
    }
  });

  it('while the round is running, a board shows the neighbouring ranks to an entrant who has scored', () => {
    for (const status of RUNNING) {
      expect(decideVisibility(status, ENTRY)).toEqual({ kind: 'no_rows' });
      expect(decideVisibility(status, SCORED)).toEqual({ kind: 'neighbours', entryId: 'entry' });
    }
  });

  it('once the round is over, a board shows the complete table to every entrant', () => {
    for (const status of ['settled', ...CANCELLED] as const) {
      expect(decideVisibility(status, ENTRY)).toEqual({ kind: 'table' });
      expect(decideVisibility(status, SCORED)).toEqual({ kind: 'table' });
    }
  });
});

describe('the window of a running round', () => {
  const [above, own, below] = [standingOf('above'), standingOf('own'), standingOf('below')];

  it('the window of a running round has the player’s own row and the rows one rank above and below', () => {
    for (const status of RUNNING) {
      expect(neighbourRows(status, { ownRank: 7, above, own, below })).toEqual([
        { ...rowOf('above', 6), ...UNDECIDED },
        { ...rowOf('own', 7), ...UNDECIDED },
        { ...rowOf('below', 8), ...UNDECIDED },
      ]);
    }
  });

  it('the window of a running round ends where the board ends', () => {
    const ranks = (facts: Parameters<typeof neighbourRows>[1]) => neighbourRows('open', facts).map(({ rank }) => rank);
    expect(ranks({ ownRank: 1, above: null, own, below })).toEqual([1, 2]);
    expect(ranks({ ownRank: 2, above, own, below: null })).toEqual([1, 2]);
    expect(ranks({ ownRank: 1, above: null, own, below: null })).toEqual([1]);
  });

  it('the window of a running round is not shown if the rank and the rows are from different snapshots', () => {
    expect(() => neighbourRows('open', { ownRank: 1, above, own, below })).toThrow('disagree');
    expect(() => neighbourRows('open', { ownRank: 2, above: null, own, below })).toThrow('disagree');
  });

  it('the window of a settling round shows no results', () => {
    const decided = standingOf('own', { finalRank: 1, payoutCents: cents(500n), awardStatus: 'paid' });
    expect(neighbourRows('settling', { ownRank: 1, above: null, own: decided, below: null })).toEqual([
      { ...rowOf('own', 1), ...UNDECIDED },
    ]);
  });
});

describe('the table of a settled round', () => {
  it('the table of a settled round has the final rank, the payout and whether it was paid', () => {
    const won = { payoutCents: cents(500n) };
    const rows = tableRows(
      'settled',
      [
        settledAt(1, { ...won, awardStatus: 'paid' }),
        settledAt(2, { ...won, awardStatus: 'held' }),
        settledAt(3, { ...won, awardStatus: 'releasing' }),
        settledAt(4, { ...won, awardStatus: 'denying' }),
        settledAt(5, { ...won, awardStatus: 'denied' }),
        settledAt(6, { payoutCents: cents(0n) }),
      ],
      1,
    );
    expect(
      rows.map(({ rank, finalRank, payoutCents, payoutStatus }) => [rank, finalRank, payoutCents, payoutStatus]),
    ).toEqual([
      [1, 1, 500n, 'paid'],
      [2, 2, 500n, 'held'],
      [3, 3, 500n, 'held'],
      [4, 4, 500n, 'held'],
      [5, 5, 500n, 'held'],
      [6, 6, 0n, 'none'],
    ]);
  });

  it('the table of a settled round continues from page to page', () => {
    const rows = [41, 42].map((rank) => settledAt(rank, { payoutCents: cents(0n) }));
    expect(tableRows('settled', rows, 41).map(({ rank }) => rank)).toEqual([41, 42]);
    expect(() => tableRows('settled', rows, 40)).toThrow('final rank 41');
  });

  it('the table of a settled round throws for an undecided or misplaced row', () => {
    const paid = { payoutCents: cents(500n), awardStatus: 'paid' } as const;
    const wrong: readonly Standing[] = [
      standingOf('undecided'),
      settledAt(2, paid),
      settledAt(1, { ...paid, awardStatus: 'paying' }),
      settledAt(1, { ...paid, awardStatus: null }),
      settledAt(1, { ...paid, payoutCents: cents(0n) }),
      settledAt(1, { ...paid, payoutCents: null }),
    ];
    for (const standing of wrong) expect(() => tableRows('settled', [standing], 1)).toThrow();
  });
});

describe('the table of a cancelled round', () => {
  it('the table of a cancelled round shows every entry as refunded', () => {
    for (const status of CANCELLED) {
      expect(tableRows(status, [standingOf('one'), standingOf('two')], 1)).toEqual([
        { ...rowOf('one', 1), finalRank: null, payoutCents: 0n, payoutStatus: 'refunded' },
        { ...rowOf('two', 2), finalRank: null, payoutCents: 0n, payoutStatus: 'refunded' },
      ]);
    }
  });
});
