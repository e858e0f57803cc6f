/** Attempts and outcomes, of challenges and of tournament rounds, as JSON text (contract, "Attempt" and "Outcome"). */
import { formatAmount } from '@laurel/money';
import {
  AttemptStatus,
  type Award,
  AwardStatus,
  type Attempt as ChallengeAttempt,
  type Outcome as ChallengeOutcome,
} from '@laurel/proto/challenge';
import type { Outcome as RoundOutcome, Attempt as TournamentAttempt } from '@laurel/proto/tournament';
import { timestamp } from './timestamp.ts';

/** Both services number them alike (`wire-names.test.ts` holds them to it). */
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

/** On a board there is no bar to clear, and no award: rounds pay by rank, at their settlement. */
const NO_BAR = { metThreshold: false, thresholdApplied: undefined, award: undefined };

/** The attempt as JSON text: `metadata` is spliced in as the very text that the partner sent. */
export function presentAttempt(attempt: ChallengeAttempt | TournamentAttempt): string {
  const { outcome } = attempt;
  const beforeMetadata = JSON.stringify({
    id: attempt.id,
    challenge_id: 'challengeId' in attempt ? attempt.challengeId : null,
    tournament_round_id: 'roundId' in attempt ? attempt.roundId : null,
    player_ref: attempt.playerRef,
    status: known(ATTEMPT_STATUS_NAMES[attempt.status]),
    fee_charged: formatAmount(attempt.feeCents),
    created_at: timestamp(attempt.createdAt),
  });
  const outcomeText = outcome === undefined ? 'null' : JSON.stringify(outcomeFields(outcome, awardFields));
  return `${beforeMetadata.slice(0, -1)},"metadata":${attempt.metadataJson},"outcome":${outcomeText}}`;
}

/** The outcome as JSON text. Here, and only here, an award also says its `payout_status`. */
export function presentOutcome(outcome: ChallengeOutcome | RoundOutcome): string {
  return JSON.stringify(
    outcomeFields(outcome, (award) => ({
      ...awardFields(award),
      payout_status: known(PAYOUT_STATUS_NAMES[award.status]),
    })),
  );
}

function outcomeFields(outcome: ChallengeOutcome | RoundOutcome, presentAward: (award: Award) => object) {
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

function known(name: string | null): string {
  if (name === null) throw new Error('a service sent a status that has no name');
  return name;
}
