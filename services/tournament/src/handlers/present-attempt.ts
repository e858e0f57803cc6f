/** Maps attempts and their outcomes to messages. */
import { shownStatus } from '@laurel/attempts/domain';
import { ATTEMPT_STATUSES } from '@laurel/proto/enum-names';
import {
  type Attempt as AttemptMessage,
  AttemptStatus,
  type Outcome as OutcomeMessage,
} from '@laurel/proto/tournament';
import type { Attempt, Outcome } from '../domain/tournament.ts';

/** The attempt as it was created: open and without an outcome, whatever its state is by now. */
export function presentCreatedAttempt(attempt: Attempt): AttemptMessage {
  return present(attempt, AttemptStatus.OPEN, undefined);
}

/** Throws on an attempt that is never shown. */
export function presentAttempt(attempt: Attempt, outcome: Outcome | null): AttemptMessage {
  const status = shownStatus(attempt.status);
  if (status === null) throw new Error(`attempt ${attempt.id} is ${attempt.status} and must not be shown`);
  return present(attempt, ATTEMPT_STATUSES[status], outcome === null ? undefined : presentOutcome(outcome));
}

function present(attempt: Attempt, status: AttemptStatus, outcome: OutcomeMessage | undefined): AttemptMessage {
  return {
    id: attempt.id,
    roundId: attempt.roundId,
    playerRef: attempt.playerRef,
    status,
    feeCents: attempt.feeCents,
    createdAt: attempt.createdAt,
    metadataJson: attempt.metadata,
    outcome,
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
