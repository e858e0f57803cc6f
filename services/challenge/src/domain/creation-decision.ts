/**
 * The decision on a batch of attempt creations. The batch is decided in order, and each creation
 * sees the ones before it, so that two creations of one player cannot exceed the cap together.
 *
 * - An attempt id seen before is `known`: it gets its first result, whatever the rules would decide
 *   now. Only an abandoned attempt (its process died before the wallet received the fee, and the
 *   sweeper wrote the fee's tombstone) is decided again, with a new fee id.
 * - Otherwise player-availability.ts decides. A ref without an account may only play for free; a
 *   fee that it cannot fund is `insufficient_funds`.
 * - Most creations are accepted, and need not wait for a read: `decideCachedCreations` decides them
 *   on the cached challenge and assumes that neither claim, rung nor cap refuses the player. The
 *   optimistic write checks these assumptions against the database. That write refuses nothing:
 *   `decideCreations` decides every other creation, on rows that it reads at that time.
 * - The account behind a ref is cached, and links move. A paid creation may rely on the cache,
 *   because the wallet checks the account when it charges. Nothing else is decided on the cache:
 *   `ask_wallet` makes the caller resolve the ref to its current account and decide again.
 */

import {
  ABANDONED_CODE,
  type IdempotencyUse,
  isSameTenant,
  type NamedAccount,
  oneForEachPlayer,
  type Tenant,
} from '@laurel/attempts/domain';
import { type Refused, refused } from '@laurel/errors';
import type { Attempt, Challenge } from './challenge.ts';
import { decideAvailability, factsWithoutAccount, type PlayerFacts } from './player-availability.ts';
import { withMoreAttempts } from './ramp.ts';
import type { TierCeilings } from './tier-ceiling.ts';

export type CreationRequest = {
  readonly attemptId: string;
  readonly tenant: Tenant;
  readonly challengeId: string;
  readonly playerRef: string;
  /** A JSON object, as text. */
  readonly metadata: string;
  readonly idempotencyUse: IdempotencyUse | null;
};

export type CreationFacts = {
  readonly creation: CreationRequest;
  readonly account: NamedAccount;
  readonly challenge: Challenge | null;
  /** The attempt with this id, if there is one. */
  readonly known: Attempt | null;
  /** Null if the ref has no account. */
  readonly player: PlayerFacts | null;
};

type Created = { readonly kind: 'created'; readonly attempt: Attempt; readonly challenge: Challenge };

export type CreationDecision =
  | { readonly kind: 'known'; readonly attempt: Attempt; readonly challenge: Challenge }
  | Created
  | { readonly kind: 'ask_wallet' }
  | Refused;

type Rules = { readonly ceilings: TierCeilings; readonly now: Date };

export function decideCreations(batch: readonly CreationFacts[], rules: Rules): readonly CreationDecision[] {
  const createdHere = new Map<string, Attempt>();
  const paidHere = new Map<string, number>();
  const paidOnChallenge = new Map<string, number>();

  return batch.map((facts) => {
    const { creation, account, challenge } = facts;
    const known = createdHere.get(creation.attemptId) ?? facts.known;
    if (known !== null && known.closedReason !== ABANDONED_CODE) {
      if (challenge === null || known.challengeId !== challenge.id) return refused('not_found');
      if (!isSameTenant(challenge.tenant, creation.tenant)) return refused('not_found');
      return { kind: 'known', attempt: known, challenge };
    }

    const key = `${creation.challengeId}:${account.accountId}`;
    const before = paidOnChallenge.get(creation.challengeId) ?? 0;
    const now = { ...facts, challenge: challenge === null ? null : withMoreAttempts(challenge, before) };
    const decision = decideCreation(now, paidHere.get(key) ?? 0, rules);
    if (decision.kind === 'created') {
      createdHere.set(creation.attemptId, decision.attempt);
      if (decision.attempt.feeCents > 0n) {
        paidHere.set(key, (paidHere.get(key) ?? 0) + 1);
        paidOnChallenge.set(creation.challengeId, before + 1);
      }
    }
    return decision;
  });
}

/**
 * The paid attempts to create, at most one per player and challenge; null for every other creation.
 * Each decision assumes that the challenge is still as cached (null if it is not cached), that the
 * attempt id is new, and that neither claim, rung, cap nor an unconfirmed bar refuses the attempt.
 */
export function decideCachedCreations(
  batch: readonly Pick<CreationFacts, 'creation' | 'account' | 'challenge'>[],
  rules: Rules,
): readonly (Created | null)[] {
  const decisions = decideCreations(
    batch.map((facts) => ({
      ...facts,
      challenge: withoutAttempts(facts.challenge),
      known: null,
      player: NOTHING_DONE,
    })),
    rules,
  );
  const paid = decisions.map((decision) =>
    decision.kind === 'created' && decision.attempt.feeCents > 0n ? decision : null,
  );
  return oneForEachPlayer(paid, ({ attempt }) => `${attempt.challengeId}:${attempt.accountId}`);
}

/** The number of attempts on an unconfirmed bar is not cached: the optimistic write counts them. */
function withoutAttempts(challenge: Challenge | null): Challenge | null {
  return challenge === null ? null : withMoreAttempts(challenge, -(challenge.unconfirmedAttempts ?? 0));
}

function decideCreation(facts: CreationFacts, paidHere: number, { ceilings, now }: Rules): CreationDecision {
  const { creation, account, challenge } = facts;
  const known = facts.player ?? (challenge === null ? NOTHING_DONE : factsWithoutAccount(challenge));
  const player = { ...known, paidInWindow: known.paidInWindow + paidHere };
  const verdict = decideAvailability({ tenant: creation.tenant, challenge, player, ceilings });
  if (verdict.kind === 'refused') {
    const isAboutThePlayer = verdict.code !== 'not_found' && verdict.code !== 'challenge_not_available';
    return isAboutThePlayer && !account.isFresh ? { kind: 'ask_wallet' } : verdict;
  }

  const { offer } = verdict;
  const isFree = offer.feeCents === 0n;
  if (isFree && !account.isFresh) return { kind: 'ask_wallet' };
  if (!isFree && account.accountId === null) return refused('insufficient_funds');
  return {
    kind: 'created',
    challenge: verdict.challenge,
    attempt: {
      id: creation.attemptId,
      challengeId: creation.challengeId,
      accountId: account.accountId,
      playerRef: creation.playerRef,
      status: isFree ? 'open' : 'pending',
      ...offer,
      metadata: creation.metadata,
      createdAt: now,
      disqualifiedAt: null,
      feeGeneration: facts.known === null ? 0 : facts.known.feeGeneration + 1,
      closedReason: null,
    },
  };
}

const NOTHING_DONE: PlayerFacts = { claimed: false, parentClaimed: true, paidInWindow: 0 };
