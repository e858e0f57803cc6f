/**
 * The reservation: the commit that decides an entry or a re-buy and inserts the attempt `pending`, with its entry and the account of its
 * ref, for many creations in one commit. Two round trips: the locks on each (round, account) with all reads, and the writes with the
 * commit. An attempt id that was seen before costs one more.
 */

import { decideAndCommit, keyIdsOf, lockKeyUses } from '@laurel/attempt-lifecycle';
import type { NamedAccount, Tenant } from '@laurel/attempt-lifecycle/domain';
import { type Coalescer, createCoalescer } from '@laurel/coalesce';
import { isRefused, type Refused } from '@laurel/errors';
import { type Database, isConnectionFailure, type Transaction } from '@laurel/postgres';
import type { Clock } from '@laurel/service';
import {
  type Creation,
  type CreationDecision,
  decideAdmission,
  decideEntries,
  entryIdOf,
} from '../domain/entry-decision.ts';
import type { Attempt } from '../domain/tournament.ts';
import { failpoint } from '../failpoints.ts';
import { insertAttempts, loadAttempts, lockAttempt, moveAttempt, restartAttempt } from '../repository/attempts.ts';
import { loadPlayerFacts, lockEntering, lockPlayer } from '../repository/player-facts.ts';
import { loadEntryRounds } from '../repository/rounds.ts';

type NamedCreation = { readonly creation: Creation; readonly account: NamedAccount };

export type AttemptReservations = Coalescer<NamedCreation, CreationDecision>;

type Deps = { readonly database: Database; readonly clock: Clock };

export function createAttemptReservations(deps: Deps): AttemptReservations {
  return createCoalescer<NamedCreation, CreationDecision>({
    name: 'create-attempts',
    // The lock on a player serializes two lanes; within a batch the decision runs in order.
    lanes: 2,
    isolate: (error) => !isConnectionFailure(error),
    async run(batch) {
      const decisions = await deps.database.transaction((tx) => decideAndInsert(tx, batch, deps), {
        beforeCommit: () => failpoint('tournament.create.before-commit'),
      });
      await failpoint('tournament.create.after-commit');
      return decisions;
    },
  });
}

async function decideAndInsert(
  tx: Transaction,
  batch: readonly NamedCreation[],
  { clock }: Pick<Deps, 'clock'>,
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
