/**
 * The reservation (libs/attempts/src/steps/reserve-attempts.ts): the commit that decides a creation and inserts the attempt `pending`, a
 * free one `open`. Paid creations on a challenge that has not changed, which neither claim, rung nor cap refuses, are decided on the cached
 * challenge. Every other one is decided under a lock on each (challenge, account).
 */

import {
  type AcceptedCreation,
  createReservations,
  decideAndCommit,
  keyIdsOf,
  lockKeyUses,
  type NamedCreation,
} from '@laurel/attempts';
import type { Coalescer } from '@laurel/coalesce';
import type { Refused } from '@laurel/errors';
import type { Database, Queryable, Transaction } from '@laurel/postgres';
import type { Clock } from '@laurel/service';
import { decideAvailability } from '../domain/availability.ts';
import type { Attempt } from '../domain/challenge.ts';
import {
  type Creation,
  type CreationDecision,
  decideCachedCreations,
  decideCreations,
} from '../domain/creation-decision.ts';
import { withAttempts } from '../domain/ramp.ts';
import type { TierCeilings } from '../domain/tier-ceiling.ts';
import { insertAttempts, loadAttempts, lockAttempts, moveAttempt, restartAttempt } from '../repository/attempts.ts';
import { type ChallengeCache, createChallengeCache } from '../repository/challenge-cache.ts';
import { findChallenge, loadChallenges } from '../repository/challenges.ts';
import { insertOptimisticAttempts, type OptimisticAttempt } from '../repository/optimistic-attempts.ts';
import { loadPlayerFacts, lockPlayers, lockPlayersAndSlots } from '../repository/player-facts.ts';
import { takingSlots } from '../repository/ramp-slots.ts';

export type AttemptReservations = Coalescer<NamedCreation<Creation>, CreationDecision>;

type Deps = { readonly database: Database; readonly ceilings: TierCeilings; readonly clock: Clock };
type CachingDeps = Deps & { readonly challenges: ChallengeCache };

export function createAttemptReservations(deps: Deps): AttemptReservations {
  const caching = { ...deps, challenges: createChallengeCache() };
  return createReservations<Creation, CreationDecision, OptimisticAttempt>(
    { owner: 'challenge', ...deps },
    {
      acceptOnCache: (batch, now) => acceptOnCache(batch, now, caching),
      insertOptimistic: insertOptimisticAttempts,
      decideUnderLock: (tx, batch) => decideAndInsert(tx, batch, caching),
    },
  );
}

function acceptOnCache(
  batch: readonly NamedCreation<Creation>[],
  now: Date,
  { challenges, ceilings }: CachingDeps,
): readonly (AcceptedCreation<CreationDecision, OptimisticAttempt> | null)[] {
  const cached = batch.map(({ creation }) => challenges.get(creation.challengeId));
  const decisions = decideCachedCreations(
    batch.map((named, index) => ({ ...named, challenge: cached[index]?.challenge ?? null })),
    { ceilings, now },
  );
  return decisions.map((decision, index) => {
    const challengeVersion = cached[index]?.version;
    const keyUse = batch[index]?.creation.keyUse ?? null;
    if (decision === null || challengeVersion === undefined) return null;
    const needsSlot = cached[index]?.challenge.unconfirmedAttempts != null;
    return { decision, insert: { attempt: decision.attempt, challengeVersion, needsSlot, keyUse } };
  });
}

async function decideAndInsert(
  tx: Transaction,
  batch: readonly NamedCreation<Creation>[],
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
    lockPlayersAndSlots(tx, queries),
    loadChallenges(tx, challengeIds),
    loadPlayerFacts(tx, queries, now),
    lockKeyUses(tx, keyIdsOf(batch.map(({ creation }) => creation))),
  ]);
  for (const read of challenges.values()) cache.put(read);

  const requests = batch.map((named, index) => {
    const player = players[index] ?? null;
    return { ...named, player, isKnown: player?.isKnownAttempt ?? false };
  });
  // Slots are taken in the statement that follows the reservation, where a challenge of the batch is unconfirmed.
  const isRamping = [...challenges.values()].some(({ challenge }) => challenge.unconfirmedAttempts !== null);
  async function withSlots<Written>(
    on: Queryable,
    written: Promise<Written>,
    ids: readonly string[],
  ): Promise<Written> {
    const { statement, values } = takingSlots(ids);
    const [result] = await Promise.all([written, isRamping ? on.query(statement, values) : undefined]);
    return result;
  }
  return decideAndCommit(tx, requests, {
    recorded,
    table: {
      loadAttempts,
      insertAttempts: (on, keyed) =>
        withSlots(
          on,
          insertAttempts(on, keyed),
          keyed.map(({ attempt }) => attempt.id),
        ),
      restartAttempt: (on, attempt) => withSlots(on, restartAttempt(on, attempt), [attempt.id]),
    },
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
    // Of the attempts that are open on it, this one stays.
    const others = challenge === null ? null : withAttempts(challenge, -1);
    const decision = decideAvailability({ tenant: locked.terms.tenant, challenge: others, player, ceilings });
    if (decision.kind === 'refused') return decision;
    await moveAttempt(tx, attempt.id, accountId);
    return { ...locked.attempt, accountId };
  });
}
