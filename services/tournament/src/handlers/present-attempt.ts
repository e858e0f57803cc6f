/** Maps created attempts and recorded outcomes to messages. */
import {
  type Attempt as AttemptMessage,
  AttemptStatus,
  type Outcome as OutcomeMessage,
} from '@laurel/proto/tournament';
import type { Attempt, Outcome } from '../domain/tournament.ts';

/** The attempt as it was created: open and without an outcome, whatever its state is by now. */
export function presentCreatedAttempt(attempt: Attempt): AttemptMessage {
  return {
    id: attempt.id,
    roundId: attempt.roundId,
    playerRef: attempt.playerRef,
    status: AttemptStatus.OPEN,
    feeCents: attempt.feeCents,
    createdAt: attempt.createdAt,
    metadataJson: attempt.metadata,
    outcome: undefined,
  };
}

export function presentOutcome(outcome: Outcome): OutcomeMessage {
  return {
    attemptId: outcome.attemptId,
    score: outcome.score,
    recordedAt: outcome.recordedAt,
    receiptId: outcome.receiptId,
  };
}
