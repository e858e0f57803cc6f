/**
 * A page of a round's standings as an operator reads it: the rows of the complete table with their
 * accounts, whatever the status of the round. Only an operator reads that a payout was `denied`;
 * everyone else reads `held`.
 */
import { type LeaderboardRow, tableRows } from './leaderboard-view.ts';
import { awardIdOfRank } from './purse.ts';
import type { PayoutStatus, Round, Standing } from './tournament.ts';

/** The row, in which `payoutStatus` may be `denied` too. */
export type InspectedRow = Omit<LeaderboardRow, 'payoutStatus'> & { readonly payoutStatus: PayoutStatus | 'denied' };

export type InspectedStanding = {
  readonly row: InspectedRow;
  readonly accountId: string;
  /** The attempt whose score the row shows. */
  readonly bestAttemptId: string;
  /** Null if nothing is won, and until the round is settled. */
  readonly awardId: string | null;
};

/** Consecutive standings in the board's order; `firstRank` is the rank of the first. */
export function inspectedStandings(
  { id, status }: Pick<Round, 'id' | 'status'>,
  standings: readonly Standing[],
  firstRank: number,
): readonly InspectedStanding[] {
  const rows = tableRows(status, standings, firstRank);
  return standings.flatMap(({ accountId, best, awardStatus }, index) => {
    const row = rows[index];
    if (row === undefined) return [];
    const { finalRank, payoutStatus } = row;
    const isWon = finalRank !== null && payoutStatus !== 'none';
    return {
      row: payoutStatus === 'held' && awardStatus === 'denied' ? { ...row, payoutStatus: 'denied' } : row,
      accountId,
      bestAttemptId: best.attemptId,
      awardId: isWon ? awardIdOfRank(id, finalRank) : null,
    };
  });
}
