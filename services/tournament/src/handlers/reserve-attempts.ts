/**
 * The reservation (libs/attempts/src/steps/reserve-attempts.ts): the commit that decides an entry or a re-buy and inserts the attempt
 * `pending`, with its entry and the account of its ref. Entries in a round that has not changed, which the cap does not refuse, are decided
 * on the cached round: one round trip. Every other one is decided under the locks on each round and (round, account), in two more: the locks
 * with all reads, and the writes with the commit. An attempt id that was seen before costs one more.
 */

import {
  type AcceptedCreation,
  createReservations,
  decideAndCommit,
  keyIdsOf,
  lockKeyUses,
  type NamedCreation,
} from '@laurel/attempts';
import type { Tenant } from '@laurel/attempts/domain';
import type { Coalescer } from '@laurel/coalesce';
import { isRefused, type Refused } from '@laurel/errors';
import type { Database, Transaction } from '@laurel/postgres';
import type { Clock } from '@laurel/service';
import {
  type Creation,
  type CreationDecision,
  decideAdmission,
  decideCachedEntries,
  decideEntries,
  entryIdOf,
} from '../domain/entry-decision.ts';
import type { Attempt } from '../domain/tournament.ts';
import { insertAttempts, loadAttempts, lockAttempt, moveAttempt, restartAttempt } from '../repository/attempts.ts';
import { insertOptimisticAttempts, type OptimisticAttempt } from '../repository/optimistic-attempts.ts';
import { loadPlayerFacts, lockEntering, lockPlayer } from '../repository/player-facts.ts';
import { createRoundCache, type RoundCache } from '../repository/round-cache.ts';
import { loadEntryRounds } from '../repository/rounds.ts';

export type AttemptReservations = Coalescer<NamedCreation<Creation>, CreationDecision>;

type Deps = { readonly database: Database; readonly clock: Clock };
type CachingDeps = Deps & { readonly rounds: RoundCache };

export function createAttemptReservations(deps: Deps): AttemptReservations {
  const caching = { ...deps, rounds: createRoundCache() };
  return createReservations<Creation, CreationDecision, OptimisticAttempt>(
    { owner: 'tournament', ...deps },
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
  { rounds }: CachingDeps,
): readonly (AcceptedCreation<CreationDecision, OptimisticAttempt> | null)[] {
  const cached = batch.map((named) => ({ ...named, round: rounds.get(named.creation.roundId) }));
  const decisions = decideCachedEntries(cached, now);
  return decisions.map((decision, index) => {
    const round = cached[index]?.round ?? null;
    const keyUse = batch[index]?.creation.keyUse ?? null;
    if (decision === null || round === null) return null;
    return { decision, insert: { attempt: decision.attempt, round, keyUse } };
  });
}

async function decideAndInsert(
  tx: Transaction,
  batch: readonly NamedCreation<Creation>[],
  { rounds: cache, clock }: CachingDeps,
): Promise<readonly CreationDecision[]> {
  const queries = batch.map(({ creation, account }) => ({
    attemptId: creation.attemptId,
    roundId: creation.roundId,
    accountId: account.accountId,
  }));
  // They are sent together and run in this order: rounds and facts are read under the locks.
  const [, rounds, players, recorded] = await Promise.all([
    lockEntering(tx, queries),
    loadEntryRounds(
      tx,
      queries.map(({ roundId }) => roundId),
    ),
    loadPlayerFacts(tx, queries),
    lockKeyUses(tx, keyIdsOf(batch.map(({ creation }) => creation))),
  ]);
  for (const read of rounds.values()) cache.put(read);
  // Read after the wait for the locks: an entry that waited until entries had closed is too late.
  const now = clock();
  const requests = batch.map((named, index) => {
    const player = players[index] ?? null;
    return { ...named, player, isKnown: player?.isKnownAttempt ?? false };
  });
  return decideAndCommit(tx, requests, {
    recorded,
    table: { loadAttempts, insertAttempts, restartAttempt },
    decide: (open) =>
      decideEntries(
        open.map(({ request: { creation, account, player }, attemptId, known }) => ({
          creation: { ...creation, attemptId },
          account,
          round: rounds.get(creation.roundId) ?? null,
          known,
          bought: player?.bought ?? 0,
        })),
        now,
      ),
  });
}

/** The ref names another account since the reservation: moves the attempt to that account and its entry, if the rules allow it. */
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
