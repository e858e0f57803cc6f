/**
 * DescribeAttempt: one attempt with its stored history, for the program's developer or for an
 * operator. It changes nothing.
 */
import { refused } from '@laurel/errors';
import { eventIdOf } from '@laurel/events';
import { type Handlers, parseId, presentTenant } from '@laurel/grpc';
import type { AttemptFact as AttemptFactMessage, AttemptServiceService } from '@laurel/proto/attempts';
import { ATTEMPT_FACTS } from '@laurel/proto/enum-names';
import { type AttemptFact, historyOf } from '../domain/attempt-history.ts';
import { currentState } from '../steps/current-state.ts';
import type { InspectDeps } from './inspect-attempt.ts';
import { presentAttempt } from './present.ts';

export function describeAttempt(deps: InspectDeps): Handlers<AttemptServiceService>['describeAttempt'] {
  const { contest, wallet } = deps;
  return async (request) => {
    const programId = request.anyProgram ? null : parseId(request.programId);
    const found = await contest.findAttempt(parseId(request.attemptId));
    if (found === null || (programId !== null && found.tenant.programId !== programId)) return refused('not_found');
    const current = await currentState(found, deps);
    if (current === null) return refused('not_found');
    const { attempt, result } = current;
    const awardId = result?.award?.id ?? null;
    const [fee, payout, prizeId] = await Promise.all([
      attempt.feeCents > 0n ? wallet.findFee(attempt.id) : null,
      awardId === null ? null : wallet.findPayoutHistory(awardId),
      awardId ?? contest.findRankAwardOf?.(attempt.id) ?? null,
    ]);
    const facts = historyOf({ attempt, settledAt: result?.outcome.recordedAt ?? null, fee, payout });
    return {
      attempt: presentAttempt({ ...found, attempt }, result),
      isAwardDenied: result?.award?.status === 'denied',
      facts: facts.map(presentFact),
      eventIds: [
        eventIdOf('attempt.settled', attempt.id),
        eventIdOf('attempt.refunded', attempt.id),
        ...(awardId === null ? [] : [eventIdOf('award.released', awardId)]),
      ],
      tenant: presentTenant(found.tenant),
      accountId: attempt.accountId ?? '',
      awardId: prizeId ?? '',
    };
  };
}

function presentFact({ kind, at, amountCents, reason }: AttemptFact): AttemptFactMessage {
  return { kind: ATTEMPT_FACTS[kind], at: at ?? undefined, amountCents, reason: reason ?? '' };
}
