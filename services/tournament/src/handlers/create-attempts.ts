/**
 * CreateAttempts: reserve -> charge -> open, as libs/attempts/src/steps/create-attempt.ts describes it. The reservation is
 * reserve-attempts.ts.
 *
 * The answer waits until `open` is written, and with it the first purchase of the entry: a read of the board right after the answer, on
 * any replica, finds the player entered.
 *
 * The cost of an answer, each for a whole batch: one round trip to the database for the reservation on a cached round, else two, the only
 * commit that waits for the disk; one call of the wallet; one round trip for the commit that opens, with its booking. A ref that is not
 * cached costs one more call of the wallet.
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
import type { Requirement } from '@laurel/attempts/domain';
import { isRefused } from '@laurel/errors';
import { type Handlers, parseId } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import type { AttemptCreation, TournamentServiceService } from '@laurel/proto/tournament';
import type { Clock, Logger } from '@laurel/service';
import type { Creation } from '../domain/entry-decision.ts';
import type { Attempt } from '../domain/tournament.ts';
import { presentCreatedAttempt } from './present-attempt.ts';
import { type AttemptReservations, moveReservation } from './reserve-attempts.ts';

/** Insiders of a program may not compete for its purses; nothing else is required beyond the rules that always apply. */
const REQUIREMENT: Requirement = { verificationLevel: 0, jurisdictions: [], refuseInsiders: true };

type Deps = {
  readonly owner: 'tournament';
  readonly database: Database;
  readonly wallet: Wallet;
  readonly accounts: AccountCache;
  readonly opener: AttemptOpener;
  readonly reservations: AttemptReservations;
  readonly clock: Clock;
  readonly logger: Logger;
};

export function createAttempts(deps: Deps): Handlers<TournamentServiceService>['createAttempts'] {
  const options = { owner: 'tournament', logger: deps.logger, failure: 'creation failed' } as const;
  return ({ creations }) => answerItems(creations, (item) => createOne(item, deps), options);
}

async function createOne(item: AttemptCreation, deps: Deps) {
  const creation = { ...parseCreation(item), roundId: parseId(item.roundId) };
  const created = await createAttempt(planOf(creation, deps), deps);
  if (isRefused(created)) return created;
  // The player has paid, whether or not `open` was written: a read resolves that.
  await created.written;
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
      return { kind: 'written', attempt: decision.attempt, requirement: REQUIREMENT };
    },
    moveTo: (attempt, accountId) => moveReservation(attempt, accountId, creation.tenant, deps),
  };
}
