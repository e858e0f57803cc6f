import { cents } from '@laurel/values/money';
import { describe, expect, it } from 'vitest';
import { ROUND, standingOf } from './example.ts';
import { inspectedStandings } from './inspected-standings.ts';
import { tableRows } from './leaderboard-view.ts';
import { awardIdOfRank } from './purse.ts';
import type { AwardStatus, RoundStatus, Standing } from './tournament.ts';

const STATUSES: readonly RoundStatus[] = ['open', 'settling', 'settled', 'cancelling', 'cancelled'];

const settledAt = (rank: number, awardStatus: AwardStatus | null): Standing =>
  standingOf(`rank ${rank}`, { finalRank: rank, payoutCents: cents(awardStatus === null ? 0n : 500n), awardStatus });

describe('standings as an operator reads them', () => {
  it('an operator sees the rows of the table with their accounts, in every status of the round', () => {
    const decided = [settledAt(1, 'paid'), settledAt(2, 'held'), settledAt(3, null)];
    for (const status of STATUSES) {
      const standings = status === 'settled' ? decided : [standingOf('one'), standingOf('two'), standingOf('three')];
      const inspected = inspectedStandings({ ...ROUND, status }, standings, 1);
      expect(inspected.map(({ row }) => row)).toEqual(tableRows(status, standings, 1));
      expect(inspected.map(({ accountId }) => accountId)).toEqual(standings.map(({ accountId }) => accountId));
    }
  });

  it('an operator sees the award of each payout, and which payouts were denied', () => {
    const awards = [null, 'paid', 'held', 'releasing', 'denying', 'denied'] as const;
    const standings = awards.map((award, index) => settledAt(41 + index, award));
    const shown = inspectedStandings({ ...ROUND, status: 'settled' }, standings, 41);
    expect(shown.map(({ row, awardId }) => [row.payoutStatus, awardId])).toEqual([
      ['none', null],
      ['paid', awardIdOfRank(ROUND.id, 42)],
      ['held', awardIdOfRank(ROUND.id, 43)],
      ['held', awardIdOfRank(ROUND.id, 44)],
      ['held', awardIdOfRank(ROUND.id, 45)],
      ['denied', awardIdOfRank(ROUND.id, 46)],
    ]);
  });

  it('an operator sees no award before the round is settled', () => {
    for (const status of STATUSES.filter((one) => one !== 'settled')) {
      const standings = [settledAt(1, 'paying'), settledAt(2, null)];
      const shown = inspectedStandings({ ...ROUND, status }, standings, 1);
      expect(shown.map(({ awardId }) => awardId)).toEqual([null, null]);
    }
  });
});
