/**
 * CreateAttempts: intent -> wallet -> open, as libs/money-path/src/create-attempt.ts tells it. Here is commit A: it decides the rules
 * under a lock on each (challenge, account) and inserts the attempt `pending`, a free one `open`. `open` and `refused` are written behind
 * the answer.
 *
 * Most creations are paid ones on a challenge that has not changed, with nothing in the player's way. So commit A decides on the
 * challenge as it is remembered, and lets the insert hold only if all of it is still true: one round trip. What is not written so is
 * read and decided in a second one, which alone refuses and knows repeats.
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
import type { NamedAccount } from '@laurel/money-path/domain';
import { type Database, isConnectionFailure, type Transaction } from '@laurel/postgres';
import type { AttemptCreation, ChallengeServiceService } from '@laurel/proto/challenge';
import type { Clock, Logger } from '@laurel/service';
import type { AttemptMemory } from '../domain/attempt-memory.ts';
import { decideAvailability } from '../domain/availability.ts';
import type { Attempt } from '../domain/challenge.ts';
import { type ChallengeMemory, createChallengeMemory } from '../domain/challenge-memory.ts';
import {
  type Creation,
  type CreationDecision,
  decideCreations,
  foreseeCreations,
} from '../domain/creation-decision.ts';
import type { TierCeilings } from '../domain/prize-offer.ts';
import { requirementOf } from '../domain/requirement.ts';
import { insertAttempts, loadAttempts, lockAttempts, moveAttempt, reviveAttempt } from '../repository/attempts.ts';
import { findChallenge, loadChallenges } from '../repository/challenges.ts';
import { insertForeseenAttempts } from '../repository/foreseen-attempts.ts';
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
  const commit = { ...deps, memory: createChallengeMemory() };
  return createCoalescer<NamedCreation, CreationDecision>({
    name: 'create-attempts',
    // The lock on a player keeps two lanes apart; within a batch the decision runs in order.
    lanes: 2,
    isolate: (error) => !isConnectionFailure(error),
    run: (batch) => decideBatch(batch, commit),
  });
}

export function createAttempts(deps: Deps): Handlers<ChallengeServiceService>['createAttempts'] {
  const options = { owner: 'challenge', logger: deps.logger, failure: 'creation failed' } as const;
  return ({ creations }) => answerItems(creations, (item) => createOne(item, deps), options);
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

type CommitDeps = Pick<Deps, 'database' | 'ceilings' | 'clock'> & { readonly memory: ChallengeMemory };

/**
 * What can be foreseen is written in one round trip; the rest, and what did not turn out as foreseen, is read and decided. Should that
 * fail, the batch is run again: what was written is known by then.
 */
async function decideBatch(batch: readonly NamedCreation[], deps: CommitDeps): Promise<readonly CreationDecision[]> {
  const foreseen = await writeForeseen(batch, deps);
  const rest = batch.filter((_, index) => foreseen[index] === null);
  const decided = rest.length === 0 ? [] : await readAndDecide(rest, deps);
  const inOrder = decided.values();
  return foreseen.map((decision) => decision ?? (inOrder.next().value as CreationDecision));
}

/** One for each creation; null where it was not written. */
async function writeForeseen(
  batch: readonly NamedCreation[],
  { database, memory, ceilings, clock }: CommitDeps,
): Promise<readonly (CreationDecision | null)[]> {
  const remembered = batch.map(({ creation }) => memory.recall(creation.challengeId));
  const now = clock();
  const foreseen = foreseeCreations(
    batch.map((named, index) => ({ ...named, challenge: remembered[index]?.challenge ?? null })),
    { ceilings, now },
  );
  const attempts = foreseen.flatMap((decision, index) => {
    const challengeVersion = remembered[index]?.version;
    return decision === null || challengeVersion === undefined ? [] : [{ attempt: decision.attempt, challengeVersion }];
  });
  if (attempts.length === 0) return foreseen.map(() => null);

  const written = await insertForeseenAttempts(database, attempts, {
    now,
    beforeCommit: () => failpoint('challenge.create.before-commit'),
  });
  await failpoint('challenge.create.after-commit');
  return foreseen.map((decision) => (decision !== null && written.has(decision.attempt.id) ? decision : null));
}

async function readAndDecide(rest: readonly NamedCreation[], deps: CommitDeps): Promise<readonly CreationDecision[]> {
  const decisions = await deps.database.transaction((tx) => decideAndInsert(tx, rest, deps), {
    beforeCommit: () => failpoint('challenge.create.before-commit'),
  });
  await failpoint('challenge.create.after-commit');
  return decisions;
}

async function decideAndInsert(
  tx: Transaction,
  batch: readonly NamedCreation[],
  { memory, ceilings, clock }: CommitDeps,
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
  for (const read of challenges.values()) memory.remember(read);
  const seen = batch.filter((_, index) => players[index]?.isKnownAttempt).map(({ creation }) => creation.attemptId);
  const known = seen.length === 0 ? new Map<string, Attempt>() : await loadAttempts(tx, seen);

  const decisions = decideCreations(
    batch.map(({ creation, account }, index) => ({
      creation,
      account,
      challenge: challenges.get(creation.challengeId)?.challenge ?? null,
      known: known.get(creation.attemptId) ?? null,
      player: players[index] ?? null,
    })),
    { ceilings, now },
  );

  return commitCreations(tx, decisions, { insertAttempts, reviveAttempt });
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
