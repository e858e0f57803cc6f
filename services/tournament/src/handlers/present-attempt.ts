/** Attempts and their outcomes, from the words of the domain to messages. */
import { type ShownStatus, shownStatus } from '@laurel/attempt';
import {
  type Attempt as AttemptMessage,
  AttemptStatus,
  type Outcome as OutcomeMessage,
} from '@laurel/proto/tournament';
import type { Attempt, Outcome } from '../domain/tournament.ts';

const ATTEMPT_STATUS: Record<ShownStatus, AttemptStatus> = {
  open: AttemptStatus.OPEN,
  settled: AttemptStatus.SETTLED,
  expired: AttemptStatus.EXPIRED,
  voided: AttemptStatus.VOIDED,
};

/** The attempt as it was created: open and without an outcome, whatever became of it since. */
export function presentCreatedAttempt(attempt: Attempt): AttemptMessage {
  return present(attempt, AttemptStatus.OPEN, undefined);
}

/** Throws on an attempt that is never shown. */
export function presentAttempt(attempt: Attempt, outcome: Outcome | null): AttemptMessage {
  const status = shownStatus(attempt.status);
  if (status === null) throw new Error(`attempt ${attempt.id} is ${attempt.status} and must not be shown`);
  return present(attempt, ATTEMPT_STATUS[status], outcome === null ? undefined : presentOutcome(outcome));
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
