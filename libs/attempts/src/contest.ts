/**
 * The interface between this library and the service of one kind of contest: challenges, or the
 * rounds of tournaments. The service implements it over its own tables. This library implements
 * everything else about attempts, once for both services.
 *
 * The library passes to the contest only attempts and awards that the contest returned before. An
 * implementation may therefore declare its own, wider types for these parameters.
 */
import type { Refused } from '@laurel/errors';
import type { Event } from '@laurel/proto/events';
import type { Tenant } from '@laurel/values/tenant';
import type { OwedAward, PayableAward } from './domain/award.ts';
import type { IdempotencyUse } from './domain/idempotency-use.ts';
import type { RecordedOutcome, ScoreReport } from './domain/outcome.ts';
import type { OwnedAttempt } from './domain/owned-attempt.ts';
import type { NamedAccount, Requirement } from './domain/player.ts';
import type { RoundReason } from './domain/refund-reason.ts';
import type { WhenEnding, WhenOpened } from './repository/attempts.ts';
import type { OpenCandidate, PlayerOfContest } from './repository/open-candidates.ts';
import type { RefundEvents, RefundQueue } from './repository/refunds-due.ts';
import type { AwardTable } from './steps/pay-awards.ts';

/** A request to create one attempt. */
export interface CreationRequest {
  readonly attemptId: string;
  readonly tenant: Tenant;
  /** The challenge, or the round. */
  readonly contestId: string;
  readonly playerRef: string;
  /** A JSON object, as text. */
  readonly metadata: string;
  /** Null for an operation without an idempotency key. */
  readonly idempotencyUse: IdempotencyUse | null;
}

/** An attempt as its contest reserves it. */
export type ReservedAttempt = OwnedAttempt & {
  /** A JSON object, as the text that the partner sent. */
  readonly metadata: string;
};

/**
 * The result of a reservation for one creation. `written` has the attempt, which this reservation
 * or an earlier one wrote. `ask_wallet` means that the decision needs the account that the ref
 * names now, not a cached account.
 */
export type Reservation =
  | { readonly kind: 'written'; readonly attempt: ReservedAttempt; readonly requirement: Requirement }
  | { readonly kind: 'ask_wallet' }
  | Refused;

/** A report of one score. */
export interface Report extends ScoreReport {
  /** The tiebreak is null if the caller sent none. */
  readonly tiebreak: number | null;
  /** Whether the wallet is known to have posted the fee; the row may still be `pending`. */
  readonly feePosted: boolean;
}

/** A recorded outcome and the prize that it won; the prize is null if it won none. */
export interface RecordedSettlement {
  readonly kind: 'recorded';
  readonly outcome: RecordedOutcome;
  readonly won: OwedAward<PayableAward> | null;
}

/**
 * The recorded outcome of an attempt, and the prize that it won; the prize is null if it won none.
 */
export type AttemptResult = { readonly outcome: RecordedOutcome; readonly award: PayableAward | null };

/** The result of the commit that recorded a report. */
export type Settlement =
  | RecordedSettlement
  /**
   * `receiptId` is the receipt of the report's operation, after resolve-idempotency-uses.ts has
   * replaced the operation of a repeat.
   */
  | { readonly kind: 'settled_before'; readonly receiptId: string }
  /** The fee is not known to be posted. Ask the wallet and settle again. */
  | { readonly kind: 'unresolved' }
  /** The deadline of the attempt has passed. */
  | { readonly kind: 'due' }
  /** The attempt ended with its contest. */
  | { readonly kind: 'over'; readonly reason: RoundReason }
  | Refused;

/** An attempt as stored, with what its contest adds. */
export interface FoundAttempt {
  readonly attempt: OwnedAttempt;
  readonly tenant: Tenant;
  /** The challenge, or the round. */
  readonly contestId: string;
  /** A JSON object, as the text that the partner sent. */
  readonly metadata: string;
  /**
   * The reason if the end of the contest ended the attempt; null while the contest accepts the
   * attempt's score.
   */
  readonly endedBy: RoundReason | null;
}

/** A challenge, tournament or round that an operator looks up by its id. */
export interface NamedContest {
  readonly kind: 'challenge' | 'tournament' | 'round';
  readonly tenant: Tenant;
  /** A few words for an operator. */
  readonly summary: string;
}

/** The state of a contest, for a report that names a player instead of an attempt. */
export interface ContestState {
  readonly tenant: Tenant;
  /** Whether the contest would accept a score of an open attempt at this moment. */
  readonly takesScores: boolean;
  /** Whether the contest is a challenge that has no bar yet. */
  readonly isCalibrating: boolean;
}

export interface Contest {
  /**
   * Applies the contest's rules to a creation. One commit writes the attempt and the use of its
   * idempotency key. The attempt is `pending`, or `open` if it is free. A refusal writes nothing. A
   * repeat of an attempt id returns the existing attempt.
   */
  reserve(creation: CreationRequest, account: NamedAccount): Promise<Reservation>;
  /** Moves the pending attempt to the account that the ref names now, if the rules allow it. */
  moveTo(attempt: ReservedAttempt, accountId: string, tenant: Tenant): Promise<ReservedAttempt | Refused>;
  /**
   * Caches the open attempt that a creation returns, so that the outcome of the attempt may be
   * decided on cached facts.
   */
  remember?(attempt: ReservedAttempt): void;
  /**
   * Settles the attempt of a report: one commit writes the outcome, receipt, event and idempotency
   * use. Rejects with a violation of `outcomes_receipt_id_key` if the report's operation has
   * settled another attempt.
   */
  settle(report: Report): Promise<Settlement>;
  /**
   * Returns the event of an outcome that won a prize. The award already has the status that the
   * wallet decided.
   */
  settledWithAward?(won: OwedAward<PayableAward>, outcome: RecordedOutcome): Event;

  /** Resolves to the attempt, archived or not, or to null if there is none. */
  findAttempt(id: string): Promise<FoundAttempt | null>;
  /** The outcome of a settled attempt. */
  loadOutcome(attemptId: string): Promise<RecordedOutcome>;
  /** The signed text of a recorded receipt; null if it is only in the archive. */
  loadReceipt(receiptId: string): Promise<string | null>;
  /**
   * Finds the prize that a settled attempt won; null if it won none, and always null in a contest
   * that pays by rank.
   */
  findAwardOf(attemptId: string): Promise<OwedAward<PayableAward> | null>;
  /**
   * Finds the id of the award for the rank of the attempt's player, in a contest that pays by rank;
   * null if that rank has no award.
   */
  findRankAwardOf?(attemptId: string): Promise<string | null>;
  /** Finds the challenge, the tournament or the round with this id. */
  findNamed(id: string): Promise<readonly NamedContest[]>;
  /** Loads the results of these settled attempts, by attempt id. */
  loadResults(attemptIds: readonly string[]): Promise<ReadonlyMap<string, AttemptResult>>;
  /**
   * Loads the states of these contests, by contest id. The map lacks contests that do not exist.
   */
  loadStates(contestIds: readonly string[]): Promise<ReadonlyMap<string, ContestState>>;
  /**
   * Loads, for each player in order, the attempts without an outcome that were created after this
   * instant, oldest first.
   */
  loadOpenCandidates(players: readonly PlayerOfContest[], after: Date): Promise<readonly (readonly OpenCandidate[])[]>;

  /** A statement for the commit that opens attempts. */
  readonly whenOpened?: WhenOpened;
  /** Statements for the commit that ends attempts without an outcome. */
  readonly whenEnding?: WhenEnding;
  readonly refunds: RefundQueue;
  readonly refundEvents: RefundEvents;
  readonly awards: AwardTable;

  /** Resolves once every commit under way has ended. */
  drain(): Promise<void>;
}
