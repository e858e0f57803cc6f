/**
 * The draft of an outcome: the outcome is decided, and its receipt is composed and signed, but
 * nothing is recorded yet. Every commit of outcomes records drafts. The response to a report
 * follows from the report's draft alone.
 */

import type { RecordedSettlement, Report, Settlement as ReportSettlement } from '@laurel/attempts';
import type { IdempotencyUse, OwedAward } from '@laurel/attempts/domain';
import type { Outbox } from '@laurel/events';
import type { Database } from '@laurel/postgres';
import type { Event } from '@laurel/proto/events';
import type { Clock } from '@laurel/service';
import type { Signer } from '@laurel/signature';
import { receiptIdOf } from '@laurel/values/ids';
import type { Award, Outcome } from '../domain/challenge.ts';
import type { Claim } from '../domain/claim.ts';
import type { OutcomeReport, ReportedAttempt, SettlingReport } from '../domain/outcome-decision.ts';
import { composeReceipt } from '../domain/receipt.ts';
import { samplePlayer } from '../domain/sample-player.ts';
import { attemptSettled } from '../events.ts';
import type { AttemptCache } from '../repository/attempt-cache.ts';
import type { NewAwardStatus } from '../repository/awards.ts';
import type { SignedOutcome } from '../repository/outcomes.ts';

export type OutcomeDraft = ReportedAttempt & {
  readonly signed: SignedOutcome;
  /** The claim that the outcome makes; null for none. */
  readonly claim: Claim | null;
  /**
   * The player for whom the score counts as a sample (`samplePlayer`); null if the score is not a
   * sample.
   */
  readonly samplePlayer: string | null;
  /** The use of the report's idempotency key, to record with the outcome; null for none. */
  readonly idempotencyUse: IdempotencyUse | null;
  /**
   * Null if the outcome won an award: the commit that records the wallet's decision on the award
   * emits the event.
   */
  readonly event: Event | null;
};

/** A report, and whether the fee of its attempt is known to be posted. */
export type ReportWithFeeState = OutcomeReport & Pick<Report, 'feePosted'>;

export type RecordedChallengeOutcome = RecordedSettlement & {
  readonly outcome: Outcome;
  readonly won: WonAward | null;
};

/** An award to pay, and the player_ref that the award's event names. */
export type WonAward = OwedAward<Award> & { readonly playerRef: string };

/** The result of the commit for a report. */
export type Settlement =
  | RecordedChallengeOutcome
  | Exclude<ReportSettlement, RecordedSettlement>
  /**
   * Nothing is recorded. The caller asks the wallet about this player and decides the report again.
   */
  | { readonly kind: 'ask_eligibility'; readonly challengeId: string; readonly playerRef: string };

/** The dependencies of a commit of drafts. */
export type OutcomeCommitDeps = {
  readonly database: Database;
  readonly signer: Signer;
  readonly signingKeyId: number;
  readonly attempts: AttemptCache;
  readonly outbox: Outbox;
  /** `wake` makes the monitor count the outcomes of this commit. */
  readonly monitor: { wake(): void };
  readonly attemptTtlMs: number;
  readonly clock: Clock;
};

export function draftOutcome(
  { report, found, metThreshold }: SettlingReport,
  {
    claim,
    idempotencyUse,
    signer,
    now,
  }: Pick<OutcomeDraft, 'claim' | 'idempotencyUse'> & { readonly signer: Signer; readonly now: Date },
): OutcomeDraft {
  const { attempt, terms } = found;
  const outcome: Outcome = {
    attemptId: report.attemptId,
    receiptId: receiptIdOf(report.operationId),
    score: report.score,
    metThreshold,
    thresholdApplied: attempt.threshold,
    recordedAt: now,
  };
  const receipt = signer.sign(composeReceipt({ attempt, terms, outcome, award: claim, evidence: report.evidence }));
  return {
    attempt,
    terms,
    claim,
    samplePlayer: samplePlayer(found, report.eligibility ?? null),
    idempotencyUse,
    signed: { outcome, receipt: receipt.canonical, signature: receipt.signature },
    event: claim === null ? attemptSettled({ tenant: terms.tenant, attempt, outcome, award: null }) : null,
  };
}

/**
 * Returns the result for the report of a recorded draft. `status` is the status of the award that
 * the outcome won; null for none.
 */
export function settlementOf(
  { signed: { outcome }, claim, terms, attempt }: OutcomeDraft,
  status: NewAwardStatus | null,
): RecordedChallengeOutcome {
  if (claim === null || status === null) return { kind: 'recorded', outcome, won: null };
  const award: Award = { ...claim, status, createdAt: outcome.recordedAt, paidAt: null };
  return { kind: 'recorded', outcome, won: { award, tenant: terms.tenant, playerRef: attempt.playerRef } };
}

/** Returns the events that the commit of these drafts emits. */
export function eventsOf(drafts: readonly OutcomeDraft[]): readonly Event[] {
  return drafts.flatMap(({ event }) => (event === null ? [] : [event]));
}
