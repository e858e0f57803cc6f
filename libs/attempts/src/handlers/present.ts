/** Maps an attempt, its outcome and its award to messages. */
import { type Attempt, type Award as AwardMessage, AwardStatus, type Outcome } from '@laurel/proto/attempts';
import { ATTEMPT_STATUSES } from '@laurel/proto/enum-names';
import type { AttemptResult, FoundAttempt } from '../contest.ts';
import { shownStatus } from '../domain/attempt.ts';
import type { PayableAward } from '../domain/award.ts';

/** Throws on an attempt that is never shown. `result` is null unless the attempt is settled. */
export function presentAttempt(
  { attempt, contestId, metadata }: Pick<FoundAttempt, 'attempt' | 'contestId' | 'metadata'>,
  result: AttemptResult | null,
): Attempt {
  const status = shownStatus(attempt.status);
  if (status === null) throw new Error(`attempt ${attempt.id} is ${attempt.status} and must not be shown`);
  return {
    id: attempt.id,
    contestId,
    playerRef: attempt.playerRef,
    status: ATTEMPT_STATUSES[status],
    feeCents: attempt.feeCents,
    createdAt: attempt.createdAt,
    metadataJson: metadata,
    outcome: result === null ? undefined : presentOutcome(result),
  };
}

export function presentOutcome({ outcome, award }: AttemptResult): Outcome {
  return {
    attemptId: outcome.attemptId,
    score: outcome.score,
    metThreshold: outcome.metThreshold,
    thresholdApplied: outcome.thresholdApplied ?? undefined,
    recordedAt: outcome.recordedAt,
    receiptId: outcome.receiptId,
    award: award === null ? undefined : presentAward(award),
  };
}

/** A denied award is shown as withheld, and so is one that is still being released or denied. */
function presentAward(award: PayableAward): AwardMessage {
  if (award.status === 'paying' || award.status === 'holding')
    throw new Error(`award ${award.id} is being paid and must not be shown`);
  return {
    id: award.id,
    amountCents: award.amountCents,
    paidAt: award.paidAt ?? undefined,
    status: award.status === 'paid' ? AwardStatus.PAID : AwardStatus.HELD,
  };
}
