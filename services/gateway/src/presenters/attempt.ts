/** Attempts and outcomes, of challenges and of tournament rounds, as JSON text (docs/contract/partner-api.md, "Attempt" and "Outcome"). */
import { ownerOf } from '@laurel/ids';
import { formatAmount } from '@laurel/money';
import type { Attempt, Award, Outcome } from '@laurel/proto/attempts';
import type { Attempt as ChallengeAttempt, Outcome as ChallengeOutcome } from '@laurel/proto/challenge';
import { ATTEMPT_STATUSES, AWARD_STATUSES, nameOf } from '@laurel/proto/enum-names';
import type { Outcome as RoundOutcome, Attempt as TournamentAttempt } from '@laurel/proto/tournament';
import { timestamp } from './timestamp.ts';

/** A creation and a report are answered in their service's own message, what comes later in that of AttemptService. */
type AnyAttempt = Attempt | ChallengeAttempt | TournamentAttempt;
type AnyOutcome = Outcome | ChallengeOutcome | RoundOutcome;

/** On a board there is no bar to clear, and no award: rounds pay by rank, at their settlement. */
const NO_BAR = { metThreshold: false, thresholdApplied: undefined, award: undefined };

/** The attempt as JSON text: `metadata` is spliced in as the very text that the partner sent. */
export function presentAttempt(attempt: AnyAttempt): string {
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

function parentOf(attempt: AnyAttempt) {
  if ('challengeId' in attempt) return { challenge_id: attempt.challengeId, tournament_round_id: null };
  if ('roundId' in attempt) return { challenge_id: null, tournament_round_id: attempt.roundId };
  const { id, contestId } = attempt;
  return ownerOf(id) === 'challenge'
    ? { challenge_id: contestId, tournament_round_id: null }
    : { challenge_id: null, tournament_round_id: contestId };
}

/** The outcome as JSON text. Here, and only here, an award also has its `payout_status`. */
export function presentOutcome(outcome: AnyOutcome): string {
  return JSON.stringify(
    outcomeFields(outcome, (award) => ({
      ...awardFields(award),
      payout_status: nameOf(AWARD_STATUSES, award.status),
    })),
  );
}

function outcomeFields(outcome: AnyOutcome, presentAward: (award: Award) => object) {
  const { metThreshold, thresholdApplied, award } = 'metThreshold' in outcome ? outcome : NO_BAR;
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
