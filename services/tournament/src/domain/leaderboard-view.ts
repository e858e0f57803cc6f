/**
 * Which part of a board each viewer sees (docs/contract/partner-api.md, "GET /tournaments/rounds/{round_id}/leaderboard", rules 1 to 5).
 *
 * - `masked`, in every state of the round, unless the named player has paid for at least one attempt in it, and that fee was not returned
 *   (entrants.ts). The player is the account: whichever of its refs is named, the board is the same. A call without a player, an unknown
 *   ref and a ref whose account has not entered look alike: the functions of this file have no input that distinguishes them.
 * - While the round is running (`open` or `settling`): the player's own row, one rank above it and one below; nothing without a score.
 * - When it is `settled` or `cancelled`: the complete table.
 *
 * Before that no result is decided: `final_rank` and `payout_amount` are null, `payout_status` is `none`. A settled row has its final
 * rank and its payout; a payout that waits for a review, or was denied by one, is `held`. The rows of a cancelled round have no final
 * rank: every entry is refunded, and the payout is 0.00.
 */
import { type Cents, cents } from '@laurel/money';
import { shownRoundStatus } from './round-status.ts';
import type { AwardStatus, Entry, PayoutStatus, RoundStatus, Standing } from './tournament.ts';

/** The rows to read. */
export type Visibility =
  | { readonly kind: 'masked' }
  /** Entered, and no score yet: an unmasked board without rows. */
  | { readonly kind: 'no_rows' }
  | { readonly kind: 'neighbours'; readonly entryId: string }
  | { readonly kind: 'table' };

/** The contract's leaderboard row. */
export type LeaderboardRow = {
  readonly entryId: string;
  readonly rank: number;
  readonly playerRef: string;
  readonly bestScore: number;
  readonly bestTiebreak: number | null;
  readonly bestScoreAt: Date;
  readonly paidAttempts: number;
  readonly finalRank: number | null;
  /** Null: no decision was made; 0: the decision was zero. */
  readonly payoutCents: Cents | null;
  readonly payoutStatus: PayoutStatus;
};

/** `viewer` is the entry of the account that the ref names; null where there is none, for any reason. */
export function decideVisibility(
  status: RoundStatus,
  viewer: Pick<Entry, 'id' | 'boughtAt' | 'best'> | null,
): Visibility {
  if (viewer === null || viewer.boughtAt === null) return { kind: 'masked' };
  if (isTableShown(status)) return { kind: 'table' };
  return viewer.best === null ? { kind: 'no_rows' } : { kind: 'neighbours', entryId: viewer.id };
}

/** Whether the round is over, so that every entrant may see its complete table. */
export function isTableShown(status: RoundStatus): boolean {
  const shown = shownRoundStatus(status);
  return shown === 'settled' || shown === 'cancelled';
}

/** The window of a running round, all of it read in one snapshot. The neighbours' ranks follow from the player's own. */
export function neighbourRows(
  status: RoundStatus,
  facts: {
    readonly ownRank: number;
    readonly above: Standing | null;
    readonly own: Standing;
    readonly below: Standing | null;
  },
): readonly LeaderboardRow[] {
  const { ownRank, above, own, below } = facts;
  if ((above === null) !== (ownRank === 1)) throw new Error(`rank ${ownRank} and the row above it disagree`);
  return [
    ...(above === null ? [] : [rowOf(status, above, ownRank - 1)]),
    rowOf(status, own, ownRank),
    ...(below === null ? [] : [rowOf(status, below, ownRank + 1)]),
  ];
}

/** A page of the complete table: standings in the board's order, without a gap; `firstRank` is the rank of the first. */
export function tableRows(
  status: RoundStatus,
  standings: readonly Standing[],
  firstRank: number,
): readonly LeaderboardRow[] {
  return standings.map((standing, index) => rowOf(status, standing, firstRank + index));
}

function rowOf(status: RoundStatus, standing: Standing, rank: number): LeaderboardRow {
  const { best } = standing;
  return {
    entryId: standing.entryId,
    rank,
    playerRef: best.playerRef,
    bestScore: best.score,
    bestTiebreak: best.tiebreak,
    bestScoreAt: best.at,
    paidAttempts: standing.paidAttempts,
    ...decisionOn(status, standing, rank),
  };
}

type Decision = Pick<LeaderboardRow, 'finalRank' | 'payoutCents' | 'payoutStatus'>;

const UNDECIDED: Decision = { finalRank: null, payoutCents: null, payoutStatus: 'none' };
const REFUNDED: Decision = { finalRank: null, payoutCents: cents(0n), payoutStatus: 'refunded' };

function decisionOn(status: RoundStatus, standing: Standing, rank: number): Decision {
  const shown = shownRoundStatus(status);
  if (shown === 'cancelled') return REFUNDED;
  if (shown !== 'settled') return UNDECIDED;
  const { finalRank, payoutCents } = standing;
  if (finalRank !== rank || payoutCents === null) {
    throw new Error(`entry ${standing.entryId} of a settled round is at rank ${rank} and has final rank ${finalRank}`);
  }
  return { finalRank, payoutCents, payoutStatus: payoutStatusOf(standing, payoutCents) };
}

const SHOWN_AWARD: Record<AwardStatus, PayoutStatus | null> = {
  paying: null,
  // Never of a round: only an award of a challenge is `holding`.
  holding: null,
  paid: 'paid',
  held: 'held',
  releasing: 'held',
  denying: 'held',
  denied: 'held',
};

function payoutStatusOf(standing: Standing, payoutCents: Cents): PayoutStatus {
  const shown = standing.awardStatus === null ? 'none' : SHOWN_AWARD[standing.awardStatus];
  // A round is settled only when each of its payouts is decided.
  if (shown === null || (shown === 'none') !== (payoutCents === 0n)) {
    throw new Error(`the payout of entry ${standing.entryId} is ${standing.awardStatus} in a settled round`);
  }
  return shown;
}
