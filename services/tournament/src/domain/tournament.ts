/** The domain types of this service. */

import type { AwardStatus, OwnedAttempt, Tenant } from '@laurel/attempts/domain';
import type { Cents } from '@laurel/values/money';

export type { AwardStatus, Environment, Tenant } from '@laurel/attempts/domain';

/** `paused` opens no new round, `closed` is final; a running round continues in either case. */
export type TournamentStatus = 'active' | 'paused' | 'closed';

export type Direction = 'higher_is_better' | 'lower_is_better';

/** What decides between equal scores, if the tournament declares it. */
export type Tiebreak = { readonly metricName: string; readonly direction: Direction };

/** The payout of each rank from 1 on. Amounts never increase, and each is above 0.00. */
export type Purse = readonly Cents[];

/** The terms that a round freezes when it opens. */
export type RoundTerms = {
  readonly metricName: string;
  readonly metricUnit: string;
  readonly direction: Direction;
  readonly tiebreak: Tiebreak | null;
  /** The first attempt and every later one cost the same. Never 0. */
  readonly entryFeeCents: Cents;
  /** How many attempts one player may buy in one round. */
  readonly attemptCap: number;
  readonly purse: Purse;
  readonly minEntrants: number;
  /** 0 means no minimum. */
  readonly minScoredAttempts: number;
};

/** What the operator sets at creation; it never changes. */
export type TournamentTerms = RoundTerms & {
  readonly name: string;
  readonly description: string | null;
  /** Null means that the operator opens each round. */
  readonly roundLengthSeconds: number | null;
};

export type Tournament = {
  readonly id: string;
  readonly tenant: Tenant;
  readonly status: TournamentStatus;
  readonly terms: TournamentTerms;
  readonly createdAt: Date;
};

/** The stored status. Partners are shown the result of `shownRoundStatus` (round-status.ts). */
export type RoundStatus = 'open' | 'settling' | 'settled' | 'cancelling' | 'cancelled';

export type Round = {
  readonly id: string;
  readonly tournamentId: string;
  readonly tournamentName: string;
  readonly tenant: Tenant;
  /** 1 for the first round of its tournament. */
  readonly number: number;
  readonly status: RoundStatus;
  readonly opensAt: Date;
  readonly entriesCloseAt: Date;
  readonly closesAt: Date;
  readonly settledAt: Date | null;
  /** Null unless an operator cancelled it. */
  readonly cancellation: Cancellation | null;
  readonly terms: RoundTerms;
  readonly createdAt: Date;
};

/** An operator's decision that a round does not run. It never changes. */
export type Cancellation = {
  readonly at: Date;
  /** The operator's name. */
  readonly by: string;
  /** The reason, which only operators see. */
  readonly reason: string;
};

/** The counts of a round. */
export type Tally = {
  /** The number of entrants, as entrants.ts counts them. */
  readonly entrants: number;
  /** Entries with a best run. */
  readonly scoredPlayers: number;
  readonly scoredAttempts: number;
};

export type Attempt = OwnedAttempt & {
  readonly roundId: string;
  readonly entryId: string;
  /** Never absent, because every attempt in a round is paid for. */
  readonly accountId: string;
  /** A JSON object as text. */
  readonly metadata: string;
};

export type Outcome = {
  readonly attemptId: string;
  readonly receiptId: string;
  readonly score: number;
  /** The value that counts on the board; null if the tournament declares no tiebreak. */
  readonly tiebreak: number | null;
  readonly recordedAt: Date;
};

/** A scored attempt, reduced to what decides the board's order. Numbers are finite. */
export type Run = { readonly score: number; readonly tiebreak: number | null; readonly at: Date };

/** The run that ranks an entry on the board. */
export type BestRun = Run & {
  readonly attemptId: string;
  /** The ref that played it, which the board shows. */
  readonly playerRef: string;
};

/** One account in one round, however many of its refs play. */
export type Entry = {
  readonly id: string;
  readonly roundId: string;
  readonly accountId: string;
  /** Since when the account is an entrant of the round (entrants.ts); null while it is not. */
  readonly boughtAt: Date | null;
  readonly best: BestRun | null;
};

/** The payout of a rank; at most one for each rank and each entry. */
export type RoundPayout = {
  readonly awardId: string;
  readonly roundId: string;
  readonly entryId: string;
  readonly accountId: string;
  readonly finalRank: number;
  readonly amountCents: Cents;
  readonly status: AwardStatus;
  readonly createdAt: Date;
  readonly paidAt: Date | null;
};

/** `payout_status` of a leaderboard row, in the contract's terms. */
export type PayoutStatus = 'none' | 'paid' | 'held' | 'refunded';

/** An entry with a score, as the board stores it. */
export type Standing = {
  readonly entryId: string;
  readonly accountId: string;
  readonly best: BestRun;
  /**
   * Attempts that were bought, without those that were refunded individually. A cancellation of the
   * round does not lower the number.
   */
  readonly paidAttempts: number;
  /** Null until the round's close decides it; always null in a cancelled round. */
  readonly finalRank: number | null;
  readonly payoutCents: Cents | null;
  /** Null if nothing is owed. */
  readonly awardStatus: AwardStatus | null;
};
