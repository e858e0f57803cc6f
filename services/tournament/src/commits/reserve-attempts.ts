/**
 * The reservations of rounds (libs/attempts/src/steps/reserve-attempts.ts), each with its entry and
 * the account of its ref.
 *
 * An entry or a re-buy is decided on the cached round, if the round has not changed and the cap
 * does not refuse it. Every other one is decided under the locks on each round and (round,
 * account), in two round trips: the locks with all reads, then the writes with the commit. An
 * attempt id that was seen before costs one more round trip.
 */

import {
  commitCreations,
  createReservationCoalescer,
  decideUnlessRefused,
  idempotencyRecordIdsOf,
  lockIdempotencyUses,
  resolveCreations,
} from '@laurel/attempts';
import { knownArchived, mayBeArchived, type NamedAccount, type Tenant } from '@laurel/attempts/domain';
import type { Coalescer } from '@laurel/coalesce';
import { isRefused, type Refused } from '@laurel/errors';
import type { BatchOptions, Database, Queryable, Transaction } from '@laurel/postgres';
import type { Clock } from '@laurel/service';
import {
  type CreationDecision,
  type CreationRequest,
  decideAdmission,
  decideCachedEntries,
  decideEntries,
  entryIdOf,
} from '../domain/entry-decision.ts';
import type { Attempt } from '../domain/tournament.ts';
import {
  insertAttempts,
  loadArchivedAttempts,
  loadAttempts,
  lockAttempt,
  moveAttempt,
  restartAttempt,
} from '../repository/attempts.ts';
import { insertOptimisticAttempts } from '../repository/optimistic-attempts.ts';
import { loadPlayerFacts, lockEntering, lockPlayer } from '../repository/player-facts.ts';
import { createRoundCache, type RoundCache } from '../repository/round-cache.ts';
import { loadEntryRounds } from '../repository/rounds.ts';

/** A creation with the account that its ref names. */
export type NamedCreation = { readonly creation: CreationRequest; readonly account: NamedAccount };

export type AttemptReservationBatches = Coalescer<NamedCreation, CreationDecision>;

type Deps = { readonly database: Database; readonly clock: Clock };
type CachingDeps = Deps & { readonly rounds: RoundCache };

export function createAttemptReservationBatches(deps: Deps): AttemptReservationBatches {
  const caching = { ...deps, rounds: createRoundCache() };
  return createReservationCoalescer<NamedCreation, CreationDecision>(
    { contestService: 'tournament', database: deps.database },
    {
      onCache: (batch, options) => reserveOnCache(batch, options, caching),
      underLock: (tx, batch) => decideAndInsert(tx, batch, caching),
    },
  );
}

/**
 * One result per creation, in order. Null if the cached round does not accept it, or if its facts
 * have changed.
 */
async function reserveOnCache(
  batch: readonly NamedCreation[],
  options: Pick<BatchOptions, 'beforeCommit'>,
  { database, rounds, clock }: CachingDeps,
): Promise<readonly (CreationDecision | null)[]> {
  const now = clock();
  const cached = batch.map((named) => ({
    ...named,
    round: mayBeArchived(named.creation.attemptId, now) ? null : rounds.get(named.creation.roundId),
  }));
  const decisions = decideCachedEntries(cached, now);
  const inserts = decisions.flatMap((decision, index) => {
    const round = cached[index]?.round ?? null;
    const idempotencyUse = batch[index]?.creation.idempotencyUse ?? null;
    return decision === null || round === null ? [] : { attempt: decision.attempt, round, idempotencyUse };
  });
  if (inserts.length === 0) return batch.map(() => null);

  const written = await insertOptimisticAttempts(database, inserts, { now, ...options });
  return decisions.map((decision) => (decision !== null && written.has(decision.attempt.id) ? decision : null));
}

async function decideAndInsert(
  tx: Transaction,
  batch: readonly NamedCreation[],
  { rounds: cache, clock }: CachingDeps,
): Promise<readonly CreationDecision[]> {
  const queries = batch.map(({ creation, account }) => ({
    attemptId: creation.attemptId,
    roundId: creation.roundId,
    accountId: account.accountId,
  }));
  // The statements are sent together and run in this order: rounds and facts are read under the
  // locks.
  const [, rounds, players, recorded] = await Promise.all([
    lockEntering(tx, queries),
    loadEntryRounds(
      tx,
      queries.map(({ roundId }) => roundId),
    ),
    loadPlayerFacts(tx, queries),
    lockIdempotencyUses(tx, idempotencyRecordIdsOf(batch.map(({ creation }) => creation))),
  ]);
  for (const read of rounds.values()) cache.put(read);
  // The clock is read after the wait for the locks, so an entry that waited past the end of entries
  // is refused.
  const now = clock();
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
    decideEntries(
      open.map(({ request: { creation, account, player }, resolved: { attemptId, known } }) => ({
        creation: { ...creation, attemptId },
        account,
        round: rounds.get(creation.roundId) ?? null,
        known,
        bought: player?.bought ?? 0,
      })),
      now,
    ),
  );
  const decisions = decided.map((item) => (isRefused(item) ? item : item.decision));
  return commitCreations(tx, resolved, decisions, { insertAttempts, restartAttempt });
}

async function loadArchived(on: Queryable, ids: readonly string[]): Promise<ReadonlyMap<string, Attempt>> {
  if (ids.length === 0) return new Map();
  const found = await loadArchivedAttempts(on, ids);
  return new Map([...found].map(([id, attempt]) => [id, knownArchived(attempt, 'entries_closed')]));
}

/**
 * If an attempt's ref names another account since the reservation, moves the attempt to that
 * account and its entry, provided that the rules allow it.
 */
export async function moveReservation(
  attempt: Attempt,
  accountId: string,
  tenant: Tenant,
  { database, clock }: Deps,
): Promise<Attempt | Refused> {
  const { id, roundId } = attempt;
  return database.transaction(async (tx): Promise<Attempt | Refused> => {
    const locked = await lockAttempt(tx, id);
    if (locked === null || locked.status !== 'pending') return locked ?? attempt;
    const [, rounds, [player]] = await Promise.all([
      lockPlayer(tx, { roundId, accountId }),
      loadEntryRounds(tx, [roundId]),
      loadPlayerFacts(tx, [{ attemptId: id, roundId, accountId }]),
    ]);
    if (player === undefined) throw new Error(`no facts were loaded for attempt ${id}`);
    const round = rounds.get(roundId) ?? null;
    const decision = decideAdmission({ tenant, round, bought: player.bought, now: clock() });
    if (isRefused(decision)) return decision;
    const moved = { ...locked, accountId, entryId: entryIdOf(roundId, accountId) };
    await moveAttempt(tx, moved);
    return moved;
  });
}
