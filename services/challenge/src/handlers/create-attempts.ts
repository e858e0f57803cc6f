/**
 * CreateAttempts: intent -> wallet -> open, as libs/money-path/src/create-attempt.ts tells it. Here is commit A: it decides the rules
 * under a lock on each (challenge, account) and inserts the attempt `pending`, a free one `open`. `open` and `refused` are written behind
 * the answer.
 */
import { type Coalescer, createCoalescer } from '@laurel/coalesce';
import { isRefused, type Refused } from '@laurel/errors';
import { failpoint } from '@laurel/failpoint';
import { type Handlers, parseId, parseItems, parseTenant } from '@laurel/grpc';
import {
  type AccountMemory,
  type AttemptOpener,
  type AttemptPlan,
  answerItem,
  createAttempt,
  type Wallet,
} from '@laurel/money-path';
import type { NamedAccount } from '@laurel/money-path/domain';
import { type Database, isConnectionFailure, type Queryable, type Transaction } from '@laurel/postgres';
import type { AttemptCreation, ChallengeServiceService } from '@laurel/proto/challenge';
import type { Clock, Logger } from '@laurel/service';
import type { AttemptMemory } from '../domain/attempt-memory.ts';
import { decideAvailability } from '../domain/availability.ts';
import type { Attempt } from '../domain/challenge.ts';
import { type Creation, type CreationDecision, decideCreations } from '../domain/creation-decision.ts';
import type { TierCeilings } from '../domain/prize-offer.ts';
import { requirementOf } from '../domain/requirement.ts';
import { insertAttempts, loadAttempts, lockAttempts, moveAttempt, reviveAttempt } from '../repository/attempts.ts';
import { findChallenge, loadChallenges } from '../repository/challenges.ts';
import { loadPlayerFacts, lockPlayers } from '../repository/player-facts.ts';
import { presentCreatedAttempt } from './present.ts';

type NamedCreation = { readonly creation: Creation; readonly account: NamedAccount };

type Deps = {
  database: Database;
  wallet: Wallet;
  accounts: AccountMemory;
  opener: AttemptOpener;
  creations: AttemptCreations;
  attempts: AttemptMemory;
  ceilings: TierCeilings;
  clock: Clock;
  logger: Logger;
};

/** Commit A for whatever creations are waiting. */
export type AttemptCreations = Coalescer<NamedCreation, CreationDecision>;

export function createAttemptCreations(deps: Pick<Deps, 'database' | 'ceilings' | 'clock'>): AttemptCreations {
  return createCoalescer<NamedCreation, CreationDecision>({
    name: 'create-attempts',
    // The lock on a player keeps two lanes apart; within a batch the decision runs in order.
    lanes: 2,
    isolate: (error) => !isConnectionFailure(error),
    async run(batch) {
      const decisions = await deps.database.transaction((tx) => decideAndInsert(tx, batch, deps), {
        beforeCommit: () => failpoint('challenge.create.before-commit'),
      });
      await failpoint('challenge.create.after-commit');
      return decisions;
    },
  });
}

export function createAttempts(deps: Deps): Handlers<ChallengeServiceService>['createAttempts'] {
  return async ({ creations }) => {
    const results = await Promise.all(
      parseItems(creations).map((item) =>
        answerItem(item, () => createOne(item, deps), { logger: deps.logger, failure: 'creation failed' }),
      ),
    );
    await failpoint('challenge.reply.before-send');
    return { results };
  };
}

async function createOne(item: AttemptCreation, deps: Deps) {
  const created = await createAttempt(planOf(parseCreation(item), deps), { owner: 'challenge', ...deps });
  if (isRefused(created)) return created;
  deps.attempts.remember(created.attempt);
  return { $case: 'attempt' as const, value: presentCreatedAttempt(created.attempt) };
}

function parseCreation(item: AttemptCreation): Creation {
  return {
    attemptId: parseId(item.attemptId),
    tenant: parseTenant(item.tenant),
    challengeId: parseId(item.challengeId),
    playerRef: item.playerRef,
    metadata: item.metadataJson === '' ? '{}' : item.metadataJson,
  };
}

/** Commit A is ours, and so is the word on an account that the ref names by now; the rest is the money path. */
function planOf(creation: Creation, deps: Deps): AttemptPlan<Attempt> {
  return {
    attemptId: creation.attemptId,
    player: { tenant: creation.tenant, playerRef: creation.playerRef },
    async writeIntent(account) {
      const decision = await deps.creations.submit({ creation, account });
      if (decision.kind === 'refused' || decision.kind === 'ask_wallet') return decision;
      const { attempt, challenge } = decision;
      deps.attempts.rememberTerms(challenge);
      return { kind: 'written', attempt, requirement: requirementOf(challenge.terms) };
    },
    moveTo: (attempt, accountId) => moveToAccount(attempt, accountId, deps),
  };
}

// Commit A.

async function decideAndInsert(
  tx: Transaction,
  batch: readonly NamedCreation[],
  { ceilings, clock }: Pick<Deps, 'ceilings' | 'clock'>,
): Promise<readonly CreationDecision[]> {
  const queries = batch.map(({ creation, account }) => ({
    attemptId: creation.attemptId,
    challengeId: creation.challengeId,
    accountId: account.accountId,
  }));
  const challengeIds = queries.map((query) => query.challengeId);
  const now = clock();
  // They go out together and run in this order: the facts are read under the lock.
  const [, challenges, players] = await Promise.all([
    lockPlayers(tx, queries),
    loadChallenges(tx, challengeIds),
    loadPlayerFacts(tx, queries, now),
  ]);
  const seen = batch.filter((_, index) => players[index]?.isKnownAttempt).map(({ creation }) => creation.attemptId);
  const known = seen.length === 0 ? new Map<string, Attempt>() : await loadAttempts(tx, seen);

  const decisions = decideCreations(
    batch.map(({ creation, account }, index) => ({
      creation,
      account,
      challenge: challenges.get(creation.challengeId) ?? null,
      known: known.get(creation.attemptId) ?? null,
      player: players[index] ?? null,
    })),
    { ceilings, now },
  );

  const begun = new Map<string, Attempt>();
  for (const decision of decisions) if (decision.kind === 'created') begun.set(decision.attempt.id, decision.attempt);
  const isWritten = await tx.commitWith((last) => write(last, [...begun.values()]));
  // Another process wrote the same attempt since it was looked up: this round's decision is void, the next finds that row.
  return decisions.map((decision) =>
    (decision.kind === 'created' || decision.kind === 'known') &&
    begun.has(decision.attempt.id) &&
    !isWritten.has(decision.attempt.id)
      ? { kind: 'ask_wallet' }
      : decision,
  );
}

/** The attempts that were written by us. */
async function write(last: Queryable, attempts: readonly Attempt[]): Promise<ReadonlySet<string>> {
  const fresh = attempts.filter((attempt) => attempt.feeGeneration === 0);
  const again = attempts.filter((attempt) => attempt.feeGeneration > 0);
  const [inserted, revived] = await Promise.all([
    fresh.length === 0 ? [] : insertAttempts(last, fresh),
    Promise.all(again.map((attempt) => reviveAttempt(last, attempt))),
  ]);
  return new Set([...inserted, ...again.filter((_, index) => revived[index]).map((attempt) => attempt.id)]);
}

/** The ref names another account now: the attempt is that account's if the rules allow it. */
async function moveToAccount(
  attempt: Attempt,
  accountId: string,
  { database, ceilings, clock }: Deps,
): Promise<Attempt | Refused> {
  return database.transaction(async (tx): Promise<Attempt | Refused> => {
    // The attempt first and the player second, as nowhere else: no one who holds a player's lock waits for an attempt.
    const locked = (await lockAttempts(tx, [attempt.id])).get(attempt.id);
    if (locked === undefined || locked.attempt.status !== 'pending') return locked?.attempt ?? attempt;
    await lockPlayers(tx, [{ challengeId: attempt.challengeId, accountId }]);
    const challenge = await findChallenge(tx, attempt.challengeId);
    const query = { attemptId: attempt.id, challengeId: attempt.challengeId, accountId };
    const [player] = await loadPlayerFacts(tx, [query], clock());
    if (player === undefined) throw new Error(`no facts were loaded for attempt ${attempt.id}`);
    const verdict = decideAvailability({ tenant: locked.terms.tenant, challenge, player, ceilings });
    if (verdict.kind === 'refused') return verdict;
    await moveAttempt(tx, attempt.id, accountId);
    return { ...locked.attempt, accountId };
  });
}
