/**
 * The reservations of challenges (libs/attempts/src/steps/reserve-attempts.ts). A paid creation is
 * decided on the cached challenge if the challenge has not changed and neither claim, rung nor cap
 * refuses the creation. Every other creation is decided under a lock on its (challenge, account).
 */

import {
  commitCreations,
  createReservationCoalescer,
  decideUnlessRefused,
  idempotencyRecordIdsOf,
  lockIdempotencyUses,
  resolveCreations,
} from '@laurel/attempts';
import { knownArchived, mayBeArchived, type NamedAccount } from '@laurel/attempts/domain';
import type { Coalescer } from '@laurel/coalesce';
import { isRefused, type Refused } from '@laurel/errors';
import type { BatchOptions, Database, Queryable, Transaction } from '@laurel/postgres';
import type { Clock } from '@laurel/service';
import type { Attempt } from '../domain/challenge.ts';
import {
  type CreationDecision,
  type CreationRequest,
  decideCachedCreations,
  decideCreations,
} from '../domain/creation-decision.ts';
import { decideAvailability } from '../domain/player-availability.ts';
import { withMoreAttempts } from '../domain/ramp.ts';
import type { TierCeilings } from '../domain/tier-ceiling.ts';
import {
  insertAttempts,
  loadArchivedAttempts,
  loadAttempts,
  lockAttempts,
  moveAttempt,
  restartAttempt,
} from '../repository/attempts.ts';
import { type ChallengeCache, createChallengeCache } from '../repository/challenge-cache.ts';
import { findChallenge, loadChallenges } from '../repository/challenges.ts';
import { insertOptimisticAttempts } from '../repository/optimistic-attempts.ts';
import { loadPlayerFacts, lockPlayers, lockPlayersAndSlots } from '../repository/player-facts.ts';
import { takingSlots } from '../repository/ramp-slots.ts';

/** A creation, and the account that its ref names. */
export type NamedCreation = { readonly creation: CreationRequest; readonly account: NamedAccount };

export type AttemptReservationBatches = Coalescer<NamedCreation, CreationDecision>;

type Deps = { readonly database: Database; readonly ceilings: TierCeilings; readonly clock: Clock };
type CachingDeps = Deps & { readonly challenges: ChallengeCache };

export function createAttemptReservationBatches(deps: Deps): AttemptReservationBatches {
  const caching = { ...deps, challenges: createChallengeCache() };
  return createReservationCoalescer<NamedCreation, CreationDecision>(
    { contestService: 'challenge', database: deps.database },
    {
      onCache: (batch, options) => reserveOnCache(batch, options, caching),
      underLock: (tx, batch) => decideAndInsert(tx, batch, caching),
    },
  );
}

/**
 * Returns one result per creation, in order; null if the cached facts do not accept the creation or
 * are out of date.
 */
async function reserveOnCache(
  batch: readonly NamedCreation[],
  options: Pick<BatchOptions, 'beforeCommit'>,
  { database, challenges, ceilings, clock }: CachingDeps,
): Promise<readonly (CreationDecision | null)[]> {
  const now = clock();
  const cached = batch.map(({ creation }) => challenges.get(creation.challengeId));
  const decisions = decideCachedCreations(
    batch.map((named, index) => ({
      ...named,
      challenge: mayBeArchived(named.creation.attemptId, now) ? null : (cached[index]?.challenge ?? null),
    })),
    { ceilings, now },
  );
  const inserts = decisions.flatMap((decision, index) => {
    const challengeVersion = cached[index]?.version;
    const idempotencyUse = batch[index]?.creation.idempotencyUse ?? null;
    if (decision === null || challengeVersion === undefined) return [];
    const needsSlot = cached[index]?.challenge.unconfirmedAttempts != null;
    return { attempt: decision.attempt, challengeVersion, needsSlot, idempotencyUse };
  });
  if (inserts.length === 0) return batch.map(() => null);

  const written = await insertOptimisticAttempts(database, inserts, { now, ...options });
  return decisions.map((decision) => (decision !== null && written.has(decision.attempt.id) ? decision : null));
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
  const now = clock();
  // The statements are sent together and run in this order, so that the facts are read under the
  // locks.
  const [, challenges, players, recorded] = await Promise.all([
    lockPlayersAndSlots(tx, queries),
    loadChallenges(
      tx,
      queries.map(({ challengeId }) => challengeId),
    ),
    loadPlayerFacts(tx, queries, now),
    lockIdempotencyUses(tx, idempotencyRecordIdsOf(batch.map(({ creation }) => creation))),
  ]);
  for (const read of challenges.values()) cache.put(read);
  const archived = await loadArchived(
    tx,
    queries.flatMap(({ attemptId }) => (mayBeArchived(attemptId, now) ? attemptId : [])),
  );

  const requests = batch.map((named, index) => ({ ...named, player: players[index] ?? null }));
  const resolved = await resolveCreations(
    requests.map(({ creation, player }) => ({
      ...creation,
      isKnown: player?.isKnownAttempt === true || archived.has(creation.attemptId),
    })),
    { recorded, loadAttempts: async (ids) => new Map([...archived, ...(await loadAttempts(tx, ids))]) },
  );
  const decided = decideUnlessRefused(requests, resolved, (open) =>
    decideCreations(
      open.map(({ request: { creation, account, player }, resolved: { attemptId, known } }) => ({
        creation: { ...creation, attemptId },
        account,
        challenge: challenges.get(creation.challengeId)?.challenge ?? null,
        known,
        player,
      })),
      { ceilings, now },
    ),
  );
  const decisions = decided.map((item) => (isRefused(item) ? item : item.decision));
  const isRamping = [...challenges.values()].some(({ challenge }) => challenge.unconfirmedAttempts !== null);
  return commitCreations(tx, resolved, decisions, isRamping ? WRITES_WITH_SLOTS : WRITES);
}

async function loadArchived(on: Queryable, ids: readonly string[]): Promise<ReadonlyMap<string, Attempt>> {
  if (ids.length === 0) return new Map();
  const found = await loadArchivedAttempts(on, ids);
  return new Map([...found].map(([id, { attempt }]) => [id, knownArchived(attempt, 'challenge_not_available')]));
}

const WRITES = { insertAttempts, restartAttempt };

/**
 * The writes of a batch that has a challenge with an unconfirmed bar: a second statement takes the
 * slots of the inserted attempts.
 */
const WRITES_WITH_SLOTS: typeof WRITES = {
  insertAttempts: (on, keyed) =>
    withSlots(
      on,
      insertAttempts(on, keyed),
      keyed.map(({ attempt }) => attempt.id),
    ),
  restartAttempt: (on, attempt) => withSlots(on, restartAttempt(on, attempt), [attempt.id]),
};

async function withSlots<Written>(on: Queryable, written: Promise<Written>, ids: readonly string[]): Promise<Written> {
  const { statement, values } = takingSlots(ids);
  const [result] = await Promise.all([written, on.query(statement, values)]);
  return result;
}

/** Moves the attempt to the account that the ref names now, if the rules allow that. */
export async function moveReservation(
  attempt: Attempt,
  accountId: string,
  { database, ceilings, clock }: Deps,
): Promise<Attempt | Refused> {
  return database.transaction(async (tx): Promise<Attempt | Refused> => {
    // Only this function locks an attempt before its player. There is no deadlock, because a
    // transaction that holds a player's lock never waits for an attempt.
    const locked = (await lockAttempts(tx, [attempt.id])).get(attempt.id);
    if (locked === undefined || locked.attempt.status !== 'pending') return locked?.attempt ?? attempt;
    await lockPlayers(tx, [{ challengeId: attempt.challengeId, accountId }]);
    const challenge = await findChallenge(tx, attempt.challengeId);
    const query = { attemptId: attempt.id, challengeId: attempt.challengeId, accountId };
    const [player] = await loadPlayerFacts(tx, [query], clock());
    if (player === undefined) throw new Error(`no facts were loaded for attempt ${attempt.id}`);
    // The challenge as it would be without this attempt, which already counts among its open
    // attempts.
    const others = challenge === null ? null : withMoreAttempts(challenge, -1);
    const decision = decideAvailability({ tenant: locked.terms.tenant, challenge: others, player, ceilings });
    if (decision.kind === 'refused') return decision;
    await moveAttempt(tx, attempt.id, accountId);
    return { ...locked.attempt, accountId };
  });
}
