/**
 * CreateAttempts: reserve -> charge -> open, as libs/attempts/src/steps/create-attempt.ts describes it. The reservation is reserve-attempts.ts.
 * `open` and `refused` are written after the answer.
 */

import {
  type AccountCache,
  type AttemptOpener,
  type AttemptPlan,
  answerItems,
  createAttempt,
  parseCreation,
  type Wallet,
} from '@laurel/attempts';
import { isRefused } from '@laurel/errors';
import { type Handlers, parseId } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import type { AttemptCreation, ChallengeServiceService } from '@laurel/proto/challenge';
import type { Clock, Logger } from '@laurel/service';
import type { Attempt } from '../domain/challenge.ts';
import type { Creation } from '../domain/creation-decision.ts';
import { requirementOf } from '../domain/requirement.ts';
import type { TierCeilings } from '../domain/tier-ceiling.ts';
import type { AttemptCache } from '../repository/attempt-cache.ts';
import { presentCreatedAttempt } from './present.ts';
import { type AttemptReservations, moveReservation } from './reserve-attempts.ts';

type Deps = {
  readonly owner: 'challenge';
  readonly database: Database;
  readonly wallet: Wallet;
  readonly accounts: AccountCache;
  readonly opener: AttemptOpener;
  readonly reservations: AttemptReservations;
  readonly attempts: AttemptCache;
  readonly ceilings: TierCeilings;
  readonly clock: Clock;
  readonly logger: Logger;
};

export function createAttempts(deps: Deps): Handlers<ChallengeServiceService>['createAttempts'] {
  const options = { owner: 'challenge', logger: deps.logger, failure: 'creation failed' } as const;
  return ({ creations }) => answerItems(creations, (item) => createOne(item, deps), options);
}

async function createOne(item: AttemptCreation, deps: Deps) {
  const creation = { ...parseCreation(item), challengeId: parseId(item.challengeId) };
  const created = await createAttempt(planOf(creation, deps), deps);
  if (isRefused(created)) return created;
  deps.attempts.put(created.attempt);
  return { $case: 'attempt' as const, value: presentCreatedAttempt(created.attempt) };
}

/** What the payment flow leaves to the owner: the reservation, and moving it to the account that the ref names by then. */
function planOf(creation: Creation, deps: Deps): AttemptPlan<Attempt> {
  return {
    attemptId: creation.attemptId,
    player: { tenant: creation.tenant, playerRef: creation.playerRef },
    async reserve(account) {
      const decision = await deps.reservations.submit({ creation, account });
      if (decision.kind === 'refused' || decision.kind === 'ask_wallet') return decision;
      const { attempt, challenge } = decision;
      deps.attempts.putTerms(challenge);
      return { kind: 'written', attempt, requirement: requirementOf(challenge.terms) };
    },
    moveTo: (attempt, accountId) => moveReservation(attempt, accountId, deps),
  };
}
