/** Attempts and outcomes as JSON text (contract, "Attempt" and "Outcome"). */
import { formatAmount } from '@laurel/money';
import { type Attempt, AttemptStatus, type Award, AwardStatus, type Outcome } from '@laurel/proto/challenge';

const ATTEMPT_STATUS_NAMES: Record<AttemptStatus, string | null> = {
  [AttemptStatus.UNSPECIFIED]: null,
  [AttemptStatus.UNRECOGNIZED]: null,
  [AttemptStatus.OPEN]: 'open',
  [AttemptStatus.SETTLED]: 'settled',
  [AttemptStatus.EXPIRED]: 'expired',
  [AttemptStatus.VOIDED]: 'voided',
};

const PAYOUT_STATUS_NAMES: Record<AwardStatus, string | null> = {
  [AwardStatus.UNSPECIFIED]: null,
  [AwardStatus.UNRECOGNIZED]: null,
  [AwardStatus.PAID]: 'paid',
  [AwardStatus.HELD]: 'held',
};

/** The attempt as JSON text: `metadata` is spliced in as the very text that the partner sent. */
export function presentAttempt(attempt: Attempt): string {
  const { outcome } = attempt;
  const beforeMetadata = JSON.stringify({
    id: attempt.id,
    challenge_id: attempt.challengeId,
    tournament_round_id: null,
    player_ref: attempt.playerRef,
    status: known(ATTEMPT_STATUS_NAMES[attempt.status]),
    fee_charged: formatAmount(attempt.feeCents),
    created_at: timestamp(attempt.createdAt),
  });
  const outcomeText = outcome === undefined ? 'null' : JSON.stringify(outcomeFields(outcome, awardFields));
  return `${beforeMetadata.slice(0, -1)},"metadata":${attempt.metadataJson},"outcome":${outcomeText}}`;
}

/** The outcome as JSON text. Here, and only here, an award also says its `payout_status`. */
export function presentOutcome(outcome: Outcome): string {
  return JSON.stringify(
    outcomeFields(outcome, (award) => ({
      ...awardFields(award),
      payout_status: known(PAYOUT_STATUS_NAMES[award.status]),
    })),
  );
}

function outcomeFields(outcome: Outcome, presentAward: (award: Award) => object) {
  return {
    attempt_id: outcome.attemptId,
    score: outcome.score,
    met_threshold: outcome.metThreshold,
    threshold_applied: outcome.thresholdApplied ?? null,
    recorded_at: timestamp(outcome.recordedAt),
    receipt_id: outcome.receiptId,
    award: outcome.award === undefined ? null : presentAward(outcome.award),
  };
}

function awardFields(award: Award) {
  return {
    id: award.id,
    amount: formatAmount(award.amountCents),
    paid_at: award.paidAt === undefined ? null : timestamp(award.paidAt),
  };
}

function timestamp(instant: Date | undefined): string {
  if (instant === undefined) throw new Error('a service left out an instant');
  return instant.toISOString();
}

function known(name: string | null): string {
  if (name === null) throw new Error('a service sent a status that has no name');
  return name;
}
