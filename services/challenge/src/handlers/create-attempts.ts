/**
 * CreateAttempts: intent -> wallet -> open.
 *
 * 1. Commit A decides the rules under a lock on each (challenge, account) and inserts the attempt `pending`; a free one `open`.
 *    A refusal ends here and leaves nothing behind.
 * 2. The wallet posts the fee, or burns its id with a refusal. That row decides.
 * 3. The answer goes out; `open` or `refused` is written behind it.
 *
 * Whatever dies in between, the same attempt id sent again finds its row and goes on from there, and so does the sweeper.
 */
import { type Coalescer, createCoalescer } from '@laurel/coalesce';
import { isApiErrorCode, isRefused, type Refused, refused } from '@laurel/errors';
import { failpoint, LostReplyError } from '@laurel/failpoint';
import type { Handlers } from '@laurel/grpc';
import { type Database, isConnectionFailure, type Transaction } from '@laurel/postgres';
import type { AttemptCreation, AttemptCreationResult, ChallengeServiceService } from '@laurel/proto/challenge';
import type { Clock, Logger } from '@laurel/service';
import type { AccountMemory } from '../clients/account-memory.ts';
import type { Player, Wallet } from '../clients/wallet.ts';
import { decideAvailability } from '../domain/availability.ts';
import { ABANDONED, type Attempt, type Challenge } from '../domain/challenge.ts';
import {
  type Creation,
  type CreationDecision,
  decideCreations,
  type NamedAccount,
} from '../domain/creation-decision.ts';
import { feeTransferOf } from '../domain/fee-transfer.ts';
import type { TierCeilings } from '../domain/prize-offer.ts';
import { insertAttempts, loadAttempts, lockAttempts, moveAttempt, reviveAttempt } from '../repository/attempts.ts';
import { findChallenge, loadChallenges } from '../repository/challenges.ts';
import { loadPlayerFacts, lockPlayers } from '../repository/player-facts.ts';
import type { Queryable } from '../repository/queryable.ts';
import type { AttemptOpener } from '../workers/open-attempts.ts';
import { parseId, parseItems, parseTenant } from './parse.ts';
import { presentCreatedAttempt } from './present.ts';

type NamedCreation = { readonly creation: Creation; readonly account: NamedAccount };

type Deps = {
  database: Database;
  wallet: Wallet;
  accounts: AccountMemory;
  opener: AttemptOpener;
  ceilings: TierCeilings;
  clock: Clock;
};

/** Commit A for whatever creations are waiting. */
export type AttemptCreations = Coalescer<NamedCreation, CreationDecision>;

// Links, abandoned fees and races with other processes can send a creation round again, each for a reason that cannot last.
const MAX_ROUNDS = 5;

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

export function createAttempts(
  deps: Deps & { creations: AttemptCreations; logger: Logger },
): Handlers<ChallengeServiceService>['createAttempts'] {
  return async ({ creations }) => {
    const results = await Promise.all(parseItems(creations).map((item) => createOne(item, deps)));
    await failpoint('challenge.reply.before-send');
    return { results };
  };
}

async function createOne(
  item: AttemptCreation,
  deps: Deps & { creations: AttemptCreations; logger: Logger },
): Promise<AttemptCreationResult> {
  try {
    const result = await createAttempt(parseCreation(item), deps);
    if (isRefused(result))
      return { result: { $case: 'refused', value: { code: result.code, message: result.message } } };
    return { result: { $case: 'attempt', value: presentCreatedAttempt(result) } };
  } catch (error) {
    if (error instanceof LostReplyError) throw error;
    deps.logger.error({ err: error, requestId: item.requestId, attemptId: item.attemptId }, 'creation failed');
    return { result: { $case: 'fault', value: { message: String(error) } } };
  }
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

/** One creation, from the intent to the wallet's word. */
async function createAttempt(
  creation: Creation,
  deps: Deps & { creations: AttemptCreations },
): Promise<Attempt | Refused> {
  const player = { tenant: creation.tenant, playerRef: creation.playerRef };
  const remembered = deps.accounts.recall(player);
  let account = remembered === null ? await askForAccount(player, deps) : { accountId: remembered, isFresh: false };

  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const decision = await deps.creations.submit({ creation, account });
    if (decision.kind === 'refused') return decision;
    if (decision.kind === 'ask_wallet') {
      account = await askForAccount(player, deps);
      continue;
    }
    const { attempt, challenge } = decision;
    if (attempt.status === 'refused') return refusalOf(attempt);
    if (attempt.status !== 'pending') return attempt;

    const charged = await charge(attempt, challenge, creation, deps);
    if (charged !== 'abandoned') return charged;
  }
  throw new Error(`attempt ${creation.attemptId} was not decided in ${MAX_ROUNDS} rounds`);
}

async function askForAccount(player: Player, { wallet, accounts }: Deps): Promise<NamedAccount> {
  const accountId = await wallet.resolvePlayer(player);
  accounts.remember(player, accountId);
  return { accountId, isFresh: true };
}

/** The refusal that the attempt keeps. */
function refusalOf(attempt: Attempt): Refused {
  const code = attempt.closedReason ?? '';
  if (!isApiErrorCode(code)) throw new Error(`attempt ${attempt.id} was refused for "${code}"`);
  return refused(code);
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

// Commit B and what follows from it.

/** The wallet's word; `abandoned` when the fee was fenced before the wallet heard of it, and the attempt may begin again. */
async function charge(
  pending: Attempt,
  challenge: Challenge,
  creation: Creation,
  deps: Deps,
): Promise<Attempt | Refused | 'abandoned'> {
  const { wallet, accounts, opener } = deps;
  const player = { tenant: creation.tenant, playerRef: pending.playerRef };
  let attempt = pending;

  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    if (attempt.accountId === null) throw new Error(`attempt ${attempt.id} has a fee and no account to pay it`);
    const fee = { attemptId: attempt.id, feeGeneration: attempt.feeGeneration };
    await failpoint('challenge.create.before-charge');
    const result = await wallet.chargeFee({
      transferId: feeTransferOf(attempt),
      attemptId: attempt.id,
      player,
      accountId: attempt.accountId,
      feeCents: attempt.feeCents,
      terms: challenge.terms,
    });
    await failpoint('challenge.create.after-charge');

    if (result.kind === 'posted') {
      void opener.open(fee);
      return { ...attempt, status: 'open' };
    }
    if (result.kind === 'refused') {
      if (result.code !== 'internal_error' && isApiErrorCode(result.code)) {
        void opener.refuse(fee, result.code);
        return refused(result.code);
      }
      await opener.refuse(fee, ABANDONED);
      return 'abandoned';
    }

    accounts.remember(player, result.accountId);
    const moved = await moveToAccount(attempt, result.accountId, deps);
    if (!isRefused(moved)) {
      attempt = moved;
      continue;
    }
    // The attempt cannot go on. Its fee must not land late either, so the refusal stands only once the fee is fenced.
    const resolution = await wallet.resolveFee({ transferId: feeTransferOf(attempt), fenceIfAbsent: true });
    if (resolution.kind === 'posted') {
      void opener.open(fee);
      return { ...attempt, status: 'open' };
    }
    await opener.refuse(fee, moved.code);
    return moved;
  }
  throw new Error(`the player of attempt ${pending.id} was moved ${MAX_ROUNDS} times while it was charged`);
}

/** The ref names another account now: the attempt is that account's if the rules allow it. */
async function moveToAccount(
  attempt: Attempt,
  accountId: string | null,
  { database, ceilings, clock }: Deps,
): Promise<Attempt | Refused> {
  if (accountId === null) return refused('insufficient_funds');
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
