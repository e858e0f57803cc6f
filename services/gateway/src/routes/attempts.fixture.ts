/** Attempts as a scripted contest service answers them. */
import {
  type Attempt,
  AttemptFactKind,
  AttemptStatus,
  AwardStatus,
  type DescribeAttemptResponse,
  type ListAttemptsResponse,
} from '@laurel/proto/attempts';
import { Environment } from '@laurel/proto/common';
import { DeliveryStatus } from '@laurel/proto/webhook';
import { newId, newOwnedId } from '@laurel/values/ids';

export const atMillisecond = (milliseconds: number) => new Date(Date.UTC(2026, 10, 26) + milliseconds);

export const ACCOUNT_ID = newId();

export function attemptAt(
  contestService: 'challenge' | 'tournament',
  milliseconds: number,
  fields: Partial<Attempt> = {},
): Attempt {
  return {
    id: newOwnedId(contestService, atMillisecond(milliseconds)),
    contestId: newId(),
    playerRef: 'p-1',
    status: AttemptStatus.OPEN,
    feeCents: 100n,
    createdAt: atMillisecond(milliseconds),
    metadataJson: '',
    outcome: undefined,
    ...fields,
  };
}

/**
 * A handler that returns a page of attempts of one account. The positions are given in
 * milliseconds.
 */
export const answerWithPage =
  (attempts: readonly Attempt[], readTo: number | null, head: number | null, programId = newId()) =>
  async (): Promise<ListAttemptsResponse> => ({
    attempts: attempts.map((attempt) => ({
      attempt,
      isAwardDenied: false,
      tenant: { programId, environment: Environment.TEST },
      accountId: ACCOUNT_ID,
    })),
    readTo: readTo === null ? undefined : { createdAt: atMillisecond(readTo), id: newId() },
    head: head === null ? undefined : { createdAt: atMillisecond(head), id: newId() },
  });

/** An attempt that won, and whose award was held and then denied. */
export function deniedWin({ programId }: { readonly programId: string }) {
  const award = { id: newId(), amountCents: 2_000n, paidAt: undefined, status: AwardStatus.HELD };
  const outcome = {
    attemptId: newId(),
    score: 7.5,
    metThreshold: true,
    thresholdApplied: 5,
    recordedAt: atMillisecond(20),
    receiptId: newId(),
    award,
  };
  const attempt = attemptAt('challenge', 0, { status: AttemptStatus.SETTLED, metadataJson: '{"n":1.0}', outcome });
  const eventId = newId();
  const fact = (kind: AttemptFactKind, ms: number, amountCents?: bigint) => ({
    kind,
    at: atMillisecond(ms),
    amountCents,
    reason: '',
  });
  const described: DescribeAttemptResponse = {
    attempt,
    isAwardDenied: true,
    facts: [
      fact(AttemptFactKind.CREATED, 0),
      fact(AttemptFactKind.FEE_CHARGED, 5, 100n),
      fact(AttemptFactKind.SETTLED, 20),
      fact(AttemptFactKind.AWARD_HELD, 25, 2_000n),
      fact(AttemptFactKind.AWARD_DENIED, 90, 2_000n),
    ],
    eventIds: [eventId],
    tenant: { programId, environment: Environment.TEST },
    accountId: ACCOUNT_ID,
    awardId: award.id,
  };
  return { described, attempt, outcome, award, eventId };
}

/** A delivery that was sent once, at this time. */
export function deliveryOf(milliseconds: number) {
  const delivery = {
    id: newId(),
    event: 'attempt.settled',
    status: DeliveryStatus.DELIVERED,
    createdAt: atMillisecond(milliseconds - 10),
    nextAttemptAt: undefined,
    attempts: [
      {
        number: 1,
        startedAt: atMillisecond(milliseconds),
        durationMs: 3,
        httpStatus: 200,
        errorKind: undefined,
        error: undefined,
        responseExcerpt: '',
      },
    ],
  };
  return { endpointId: newId(), delivery };
}
