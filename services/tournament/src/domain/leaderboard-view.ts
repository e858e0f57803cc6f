/**
 * Which part of a board a viewer sees (docs/contract/partner-api.md, "GET
 * /tournaments/rounds/{round_id}/leaderboard", rules 1 to 5).
 *
 * - `masked`, in every state of the round, unless the named player is an entrant (entrants.ts): an
 *   account that paid for an attempt whose fee was not returned. Each ref of the account sees the
 *   same board. A call without a player, an unknown ref, and a ref whose account has not entered
 *   look alike: no input of these functions differs between them.
 * - While the round is running (`open` or `settling`): the player's own row, one rank above it and
 *   one below; no row until the player has a score.
 * - Once it is `settled` or `cancelled`: the complete table.
 *
 * Until the round is `settled` or `cancelled`, no result is decided: `final_rank` and
 * `payout_amount` are null, `payout_status` is `none`. A settled row has its final rank and its
 * payout; a payout that is under review, or was denied, is `held`. A row of a cancelled round has
 * no final rank: its entry is refunded, and the payout is 0.00.
 */
import { type Cents, cents } from '@laurel/values/money';
import { shownRoundStatus } from './round-status.ts';
import type { AwardStatus, Entry, PayoutStatus, RoundStatus, Standing } from './tournament.ts';

/** Which rows of the board the viewer may read. */
export type Visibility =
  | { readonly kind: 'masked' }
  /** An entrant without a score: an unmasked board without rows. */
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
  /** Null while the payout is not decided; 0 if nothing was won. */
  readonly payoutCents: Cents | null;
  readonly payoutStatus: PayoutStatus;
};

/**
 * Decides what the viewer may see. `viewer` is the entry of the account that the ref names; null if
 * there is none, for any reason.
 */
export function decideVisibility(
  status: RoundStatus,
  viewer: Pick<Entry, 'id' | 'boughtAt' | 'best'> | null,
): Visibility {
  if (viewer === null || viewer.boughtAt === null) return { kind: 'masked' };
  if (isTableShown(status)) return { kind: 'table' };
  return viewer.best === null ? { kind: 'no_rows' } : { kind: 'neighbours', entryId: viewer.id };
}

/** Whether every entrant sees the complete table. */
export function isTableShown(status: RoundStatus): boolean {
  const shown = shownRoundStatus(status);
  return shown === 'settled' || shown === 'cancelled';
}

/**
 * The rows that a player sees of a running round, read in one snapshot. The ranks of the neighbours
 * follow from the player's own.
 */
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

/**
 * A page of the complete table: consecutive standings in the board's order. `firstRank` is the rank
 * of the first.
 */
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
  // Only an award of a challenge is ever `holding`.
  holding: null,
  paid: 'paid',
  held: 'held',
  releasing: 'held',
  denying: 'held',
  denied: 'held',
};

function payoutStatusOf(standing: Standing, payoutCents: Cents): PayoutStatus {
  const shown = standing.awardStatus === null ? 'none' : SHOWN_AWARD[standing.awardStatus];
  // Every payout of a settled round is decided.
  if (shown === null || (shown === 'none') !== (payoutCents === 0n)) {
    throw new Error(`the payout of entry ${standing.entryId} is ${standing.awardStatus} in a settled round`);
  }
  return shown;
}
