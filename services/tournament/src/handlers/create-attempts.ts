/**
 * CreateAttempts: intent -> wallet -> open, as libs/money-path/src/create-attempt.ts tells it. Here is commit A: it decides the rules
 * under a lock on each (round, account) and inserts the attempt `pending`, with its entry and what its ref stands for.
 *
 * The answer waits until `open` is written, and with it the first purchase of the entry: whoever reads the board right behind the answer,
 * on any replica, finds the player entered.
 *
 * On the way to the answer, each for a whole batch: two round trips to the database for commit A, the only one that waits for the disk
 * (its locks and all that it reads; its writes and the commit); one call of the wallet; three round trips for the commit that opens
 * (`begin`; `open`; the booking and the commit). A ref that was not met before costs one more call of the wallet, an attempt id that was
 * seen before one more round trip.
 */
import { type Coalescer, createCoalescer } from '@laurel/coalesce';
import { isRefused, type Refused } from '@laurel/errors';
import { failpoint } from '@laurel/failpoint';
import { type Handlers, parseId, parseTenant } from '@laurel/grpc';
import {
  type AccountMemory,
  type AttemptOpener,
  type AttemptPlan,
  answerItems,
  commitCreations,
  createAttempt,
  type Wallet,
} from '@laurel/money-path';
import type { NamedAccount, Requirement } from '@laurel/money-path/domain';
import { type Database, isConnectionFailure, type Transaction } from '@laurel/postgres';
import type { AttemptCreation, TournamentServiceService } from '@laurel/proto/tournament';
import type { Clock, Logger } from '@laurel/service';
import {
  type Creation,
  type CreationDecision,
  decideAdmission,
  decideEntries,
  entryIdOf,
} from '../domain/entry-decision.ts';
import type { Attempt } from '../domain/tournament.ts';
import { insertAttempts, loadAttempts, lockAttempt, moveAttempt, reviveAttempt } from '../repository/attempts.ts';
import { loadPlayerFacts, lockEntering, lockPlayer } from '../repository/player-facts.ts';
import { loadEntryRounds } from '../repository/rounds.ts';
import { presentCreatedAttempt } from './present-attempt.ts';

/** Insiders of a program never race for its purses; nothing else is demanded beyond the rules that always hold. */
const REQUIREMENT: Requirement = { verificationLevel: 0, jurisdictions: [], refuseInsiders: true };

type NamedCreation = { readonly creation: Creation; readonly account: NamedAccount };

type Deps = {
  database: Database;
  wallet: Wallet;
  accounts: AccountMemory;
  opener: AttemptOpener;
  creations: AttemptCreations;
  clock: Clock;
  logger: Logger;
};

/** Commit A for whatever creations are waiting. */
export type AttemptCreations = Coalescer<NamedCreation, CreationDecision>;

export function createAttemptCreations(deps: Pick<Deps, 'database' | 'clock'>): AttemptCreations {
  return createCoalescer<NamedCreation, CreationDecision>({
    name: 'create-attempts',
    // The lock on a player keeps two lanes apart; within a batch the decision runs in order.
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

export function createAttempts(deps: Deps): Handlers<TournamentServiceService>['createAttempts'] {
  const options = { owner: 'tournament', logger: deps.logger, failure: 'creation failed' } as const;
  return ({ creations }) => answerItems(creations, (item) => createOne(item, deps), options);
}

async function createOne(item: AttemptCreation, deps: Deps) {
  const created = await createAttempt(planOf(parseCreation(item), deps), { owner: 'tournament', ...deps });
  if (isRefused(created)) return created;
  // The player has paid, whether or not it could be written: a read finds that out by itself.
  await created.written;
  return { $case: 'attempt' as const, value: presentCreatedAttempt(created.attempt) };
}

function parseCreation(item: AttemptCreation): Creation {
  return {
    attemptId: parseId(item.attemptId),
    tenant: parseTenant(item.tenant),
    roundId: parseId(item.roundId),
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
      return { kind: 'written', attempt: decision.attempt, requirement: REQUIREMENT };
    },
    moveTo: (attempt, accountId) => moveToAccount(attempt, accountId, creation, deps),
  };
}

// Commit A.

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
  // They go out together and run in this order: rounds and facts are read under the locks.
  const [, rounds, players] = await Promise.all([
    lockEntering(tx, queries),
    loadEntryRounds(
      tx,
      queries.map(({ roundId }) => roundId),
    ),
    loadPlayerFacts(tx, queries),
  ]);
  const seen = batch.filter((_, index) => players[index]?.isKnownAttempt).map(({ creation }) => creation.attemptId);
  const known = await loadAttempts(tx, seen);

  const decisions = decideEntries(
    batch.map(({ creation, account }, index) => ({
      creation,
      account,
      round: rounds.get(creation.roundId) ?? null,
      known: known.get(creation.attemptId) ?? null,
      bought: players[index]?.bought ?? 0,
    })),
    // After the wait for the locks: an entry that waited until entries had closed comes too late.
    clock(),
  );

  return commitCreations(tx, decisions, { insertAttempts, reviveAttempt });
}

/** The ref names another account now: the attempt is that account's, and its entry's, if the rules allow it. */
async function moveToAccount(
  attempt: Attempt,
  accountId: string,
  { tenant }: Creation,
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
    const verdict = decideAdmission({ tenant, round, bought: player.bought, now: clock() });
    if (isRefused(verdict)) return verdict;
    const moved = { ...locked, accountId, entryId: entryIdOf(roundId, accountId) };
    await moveAttempt(tx, moved);
    return moved;
  });
}
