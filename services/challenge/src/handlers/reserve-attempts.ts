/**
 * The reservation: the commit that decides a creation and inserts the attempt `pending`, a free one `open`, for many creations in one
 * commit.
 *
 * Most creations are paid ones on a challenge that has not changed, which neither claim, rung nor cap refuses. They are decided on the
 * cached challenge and inserted only where all of it still holds: one round trip. The rest, and those that this did not insert, are
 * read and decided in a second transaction under a lock on each (challenge, account); only this one refuses and recognizes repeats. If
 * it fails, the batch is run again: attempts that were inserted are known by then.
 */

import { decideAndCommit, keyIdsOf, lockKeyUses } from '@laurel/attempt-lifecycle';
import type { NamedAccount } from '@laurel/attempt-lifecycle/domain';
import { type Coalescer, createCoalescer, runOptimisticBatch } from '@laurel/coalesce';
import type { Refused } from '@laurel/errors';
import { type Database, isConnectionFailure, type Transaction } from '@laurel/postgres';
import type { Clock } from '@laurel/service';
import { decideAvailability } from '../domain/availability.ts';
import type { Attempt } from '../domain/challenge.ts';
import {
  type Creation,
  type CreationDecision,
  decideCachedCreations,
  decideCreations,
} from '../domain/creation-decision.ts';
import type { TierCeilings } from '../domain/tier-ceiling.ts';
import { failpoint } from '../failpoints.ts';
import { insertAttempts, loadAttempts, lockAttempts, moveAttempt, restartAttempt } from '../repository/attempts.ts';
import { type ChallengeCache, createChallengeCache } from '../repository/challenge-cache.ts';
import { findChallenge, loadChallenges } from '../repository/challenges.ts';
import { insertOptimisticAttempts } from '../repository/optimistic-attempts.ts';
import { loadPlayerFacts, lockPlayers } from '../repository/player-facts.ts';

type NamedCreation = { readonly creation: Creation; readonly account: NamedAccount };

export type AttemptReservations = Coalescer<NamedCreation, CreationDecision>;

type Deps = { readonly database: Database; readonly ceilings: TierCeilings; readonly clock: Clock };
type CachingDeps = Deps & { readonly challenges: ChallengeCache };

export function createAttemptReservations(deps: Deps): AttemptReservations {
  const caching = { ...deps, challenges: createChallengeCache() };
  return createCoalescer<NamedCreation, CreationDecision>({
    name: 'create-attempts',
    // The lock on a player keeps two lanes apart; within a batch the decision runs in order.
    lanes: 2,
    isolate: (error) => !isConnectionFailure(error),
    run: (batch) =>
      runOptimisticBatch<NamedCreation, CreationDecision>(batch, {
        optimistic: (all) => reserveOptimistically(all, caching),
        underLock: (rest) => reserveUnderLock(rest, caching),
      }),
  });
}

async function reserveOptimistically(
  batch: readonly NamedCreation[],
  { database, challenges, ceilings, clock }: CachingDeps,
): Promise<readonly (CreationDecision | null)[]> {
  const cached = batch.map(({ creation }) => challenges.get(creation.challengeId));
  const now = clock();
  const decisions = decideCachedCreations(
    batch.map((named, index) => ({ ...named, challenge: cached[index]?.challenge ?? null })),
    { ceilings, now },
  );
  const attempts = decisions.flatMap((decision, index) => {
    const challengeVersion = cached[index]?.version;
    const keyUse = batch[index]?.creation.keyUse ?? null;
    if (decision === null || challengeVersion === undefined) return [];
    return [{ attempt: decision.attempt, challengeVersion, keyUse }];
  });
  if (attempts.length === 0) return batch.map(() => null);

  const written = await insertOptimisticAttempts(database, attempts, {
    now,
    beforeCommit: () => failpoint('challenge.create.before-commit'),
  });
  await failpoint('challenge.create.after-commit');
  return decisions.map((decision) => (decision !== null && written.has(decision.attempt.id) ? decision : null));
}

async function reserveUnderLock(
  batch: readonly NamedCreation[],
  deps: CachingDeps,
): Promise<readonly CreationDecision[]> {
  const decisions = await deps.database.transaction((tx) => decideAndInsert(tx, batch, deps), {
    beforeCommit: () => failpoint('challenge.create.before-commit'),
  });
  await failpoint('challenge.create.after-commit');
  return decisions;
}

async function decideAndInsert(
  tx: Transaction,
  batch: readonly NamedCreation[],
  { challenges: cache, ceilings, clock }: CachingDeps,
): Promise<readonly CreationDecision[]> {
  const queries = batch.map(({ creation, account }) => ({
    attemptId: creation.attemptId,
    challengeId: creation.challengeId,
    accountId: account.accountId,
  }));
  const challengeIds = queries.map((query) => query.challengeId);
  const now = clock();
  // They go out together and run in this order: the facts are read under the lock.
  const [, challenges, players, recorded] = await Promise.all([
    lockPlayers(tx, queries),
    loadChallenges(tx, challengeIds),
    loadPlayerFacts(tx, queries, now),
    lockKeyUses(tx, keyIdsOf(batch.map(({ creation }) => creation))),
  ]);
  for (const read of challenges.values()) cache.put(read);

  const requests = batch.map((named, index) => {
    const player = players[index] ?? null;
    return { ...named, player, isKnown: player?.isKnownAttempt ?? false };
  });
  return decideAndCommit(tx, requests, {
    recorded,
    table: { loadAttempts, insertAttempts, restartAttempt },
    decide: (open) =>
      decideCreations(
        open.map(({ request: { creation, account, player }, attemptId, known }) => ({
          creation: { ...creation, attemptId },
          account,
          challenge: challenges.get(creation.challengeId)?.challenge ?? null,
          known,
          player,
        })),
        { ceilings, now },
      ),
  });
}

/** The ref names another account since the reservation: moves the attempt to that account if the rules allow it. */
export async function moveReservation(
  attempt: Attempt,
  accountId: string,
  { database, ceilings, clock }: Deps,
): Promise<Attempt | Refused> {
  return database.transaction(async (tx): Promise<Attempt | Refused> => {
    // Only here is the attempt locked before the player: a holder of a player's lock never waits for an attempt.
    const locked = (await lockAttempts(tx, [attempt.id])).get(attempt.id);
    if (locked === undefined || locked.attempt.status !== 'pending') return locked?.attempt ?? attempt;
    await lockPlayers(tx, [{ challengeId: attempt.challengeId, accountId }]);
    const challenge = await findChallenge(tx, attempt.challengeId);
    const query = { attemptId: attempt.id, challengeId: attempt.challengeId, accountId };
    const [player] = await loadPlayerFacts(tx, [query], clock());
    if (player === undefined) throw new Error(`no facts were loaded for attempt ${attempt.id}`);
    const decision = decideAvailability({ tenant: locked.terms.tenant, challenge, player, ceilings });
    if (decision.kind === 'refused') return decision;
    await moveAttempt(tx, attempt.id, accountId);
    return { ...locked.attempt, accountId };
  });
}
