/**
 * The seam to the service of a kind of contest: challenges, or the rounds of tournaments. The service implements it over its
 * own tables; everything else that an attempt is and does is written once, behind this seam.
 *
 * An attempt or an award that the component hands back is one that the contest has given it, so that an implementation
 * declares its own, wider types there.
 */
import type { Refused } from '@laurel/errors';
import type { Event } from '@laurel/proto/events';
import type { Tenant } from '@laurel/tenant';
import type { OwedAward, PayableAward } from './domain/award.ts';
import type { KeyUse } from './domain/key-use.ts';
import type { OwnedAttempt } from './domain/owned-attempt.ts';
import type { NamedAccount, Requirement } from './domain/player.ts';
import type { RoundReason } from './domain/refund-reason.ts';
import type { WhenEnding, WhenOpened } from './repository/attempts.ts';
import type { OpenCandidate, PlayerOfContest } from './repository/open-candidates.ts';
import type { RefundEvents, RefundQueue } from './repository/refunds-due.ts';
import type { AwardTable } from './steps/pay-awards.ts';

/** One attempt to create. */
export interface Creation {
  readonly attemptId: string;
  readonly tenant: Tenant;
  /** The challenge, or the round. */
  readonly contestId: string;
  readonly playerRef: string;
  /** An object as JSON text. */
  readonly metadata: string;
  /** Null for an operation without an idempotency key. */
  readonly keyUse: KeyUse | null;
}

/** An attempt as a contest makes it. */
export type MadeAttempt = OwnedAttempt & {
  /** A JSON object, as the text that the partner sent. */
  readonly metadata: string;
};

/**
 * What the reservation decided about a creation: its attempt, written now or before; `ask_wallet` where the decision needs the
 * account that the ref names now, and not a cached one.
 */
export type Reservation =
  | { readonly kind: 'written'; readonly attempt: MadeAttempt; readonly requirement: Requirement }
  | { readonly kind: 'ask_wallet' }
  | Refused;

/** One reported score. */
export interface Report {
  readonly operationId: string;
  readonly attemptId: string;
  readonly tenant: Tenant;
  readonly score: number;
  /** Null when none was sent. */
  readonly tiebreak: number | null;
  /** An object as JSON text, or empty. */
  readonly evidence: string;
  readonly keyUse: KeyUse | null;
  /** The wallet is known to have posted the fee, though the row may still be `pending`. */
  readonly feePosted: boolean;
}

export interface RecordedOutcome {
  readonly attemptId: string;
  readonly receiptId: string;
  readonly score: number;
  /** False in a contest without a bar. */
  readonly metThreshold: boolean;
  readonly thresholdApplied: number | null;
  readonly recordedAt: Date;
}

/** An outcome that is recorded, and the prize that it won; null for none. */
export interface Recorded {
  readonly kind: 'recorded';
  readonly outcome: RecordedOutcome;
  readonly won: OwedAward<PayableAward> | null;
}

/** What the commit for a report did. */
export type Settlement =
  | Recorded
  /** `receiptId` is the receipt of the operation that the report repeats, if it repeats one; see resolve-key-uses.ts. */
  | { readonly kind: 'settled_before'; readonly receiptId: string }
  /** The fee is not known to be posted. Ask the wallet and settle again. */
  | { readonly kind: 'unresolved' }
  /** The deadline of the attempt has passed. */
  | { readonly kind: 'due' }
  /** The end of its contest has ended the attempt. */
  | { readonly kind: 'over'; readonly reason: RoundReason }
  | Refused;

/** An attempt as it is stored, and what its contest says of it. */
export interface FoundAttempt {
  readonly attempt: OwnedAttempt;
  readonly tenant: Tenant;
  /** The challenge, or the round. */
  readonly contestId: string;
  /** A JSON object, as the text that the partner sent. */
  readonly metadata: string;
  /** How the end of its contest has ended the attempt, if it was open then; null while the contest takes its score. */
  readonly endedBy: RoundReason | null;
}

/** A contest, as a report that names its player needs it. */
export interface ContestState {
  readonly tenant: Tenant;
  /** Whether an open attempt would be accepted a score now. */
  readonly takesScores: boolean;
  /** A challenge without a bar yet. */
  readonly isCalibrating: boolean;
}

export interface Contest {
  /**
   * Applies the contest's rules to a creation and writes its attempt with the use of its key, in one commit: `pending`, or
   * `open` where it is free. A refusal writes nothing. An attempt id that was seen before is answered with its attempt.
   */
  reserve(creation: Creation, account: NamedAccount): Promise<Reservation>;
  /** The ref names another account now: moves the pending attempt to that account, if the rules allow it. */
  moveTo(attempt: MadeAttempt, accountId: string, tenant: Tenant): Promise<MadeAttempt | Refused>;
  /** A creation is answered with this attempt, which is open: its outcome may be decided on what is remembered. */
  remember?(attempt: MadeAttempt): void;
  /**
   * Settles the attempt of a report: its outcome, receipt, event and key use in one commit. Rejects with a violation of
   * `outcomes_receipt_id_key` where the operation has settled another attempt.
   */
  settle(report: Report): Promise<Settlement>;
  /** The event of an outcome and the prize that it won; the award has the wallet's decision. */
  settledWithAward?(won: OwedAward<PayableAward>, outcome: RecordedOutcome): Event;

  /** Null where there is none. */
  findAttempt(id: string): Promise<FoundAttempt | null>;
  /** Of a settled attempt. */
  loadOutcome(attemptId: string): Promise<RecordedOutcome>;
  /** The signed text of a receipt that is recorded. */
  loadReceipt(receiptId: string): Promise<string>;
  /** The prize that a settled attempt won; null where it won none, as in a contest that pays by rank. */
  findAwardOf(attemptId: string): Promise<OwedAward<PayableAward> | null>;
  /** The contests with these ids; one that does not exist is not in the map. */
  loadStates(contestIds: readonly string[]): Promise<ReadonlyMap<string, ContestState>>;
  /** For each player, in order: the attempts without an outcome that were created after this instant, oldest first. */
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
