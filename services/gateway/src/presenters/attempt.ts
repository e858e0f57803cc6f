/**
 * Attempts and outcomes, of challenges and of tournament rounds, as JSON text
 * (docs/contract/partner-api.md, "Attempt" and "Outcome").
 */
import { ownerOf } from '@laurel/ids';
import { formatAmount } from '@laurel/money';
import type { Attempt, Award, Outcome } from '@laurel/proto/attempts';
import { ATTEMPT_STATUSES, AWARD_STATUSES, nameOf } from '@laurel/proto/enum-names';
import { timestamp } from './timestamp.ts';

/** The attempt as JSON text: `metadata` is spliced in as the exact text that the partner sent. */
export function presentAttempt(attempt: Attempt): string {
  const { outcome } = attempt;
  const beforeMetadata = JSON.stringify({
    id: attempt.id,
    ...parentOf(attempt),
    player_ref: attempt.playerRef,
    status: nameOf(ATTEMPT_STATUSES, attempt.status),
    fee_charged: formatAmount(attempt.feeCents),
    created_at: timestamp(attempt.createdAt),
  });
  const outcomeText = outcome === undefined ? 'null' : JSON.stringify(outcomeFields(outcome, awardFields));
  return `${beforeMetadata.slice(0, -1)},"metadata":${attempt.metadataJson},"outcome":${outcomeText}}`;
}

function parentOf({ id, contestId }: Attempt) {
  return ownerOf(id) === 'challenge'
    ? { challenge_id: contestId, tournament_round_id: null }
    : { challenge_id: null, tournament_round_id: contestId };
}

/** The outcome as JSON text. Only here does an award also have its `payout_status`. */
export function presentOutcome(outcome: Outcome): string {
  return JSON.stringify(
    outcomeFields(outcome, (award) => ({
      ...awardFields(award),
      payout_status: nameOf(AWARD_STATUSES, award.status),
    })),
  );
}

function outcomeFields(outcome: Outcome, presentAward: (award: Award) => object) {
  const { metThreshold, thresholdApplied, award } = outcome;
  return {
    attempt_id: outcome.attemptId,
    score: outcome.score,
    met_threshold: metThreshold,
    threshold_applied: thresholdApplied ?? null,
    recorded_at: timestamp(outcome.recordedAt),
    receipt_id: outcome.receiptId,
    award: award === undefined ? null : presentAward(award),
  };
}

function awardFields(award: Award) {
  return {
    id: award.id,
    amount: formatAmount(award.amountCents),
    paid_at: award.paidAt === undefined ? null : timestamp(award.paidAt),
  };
}
