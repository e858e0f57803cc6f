/**
 * The decision on a batch of attempt creations. It decides them in order and lets each see the ones
 * before it, so that two creations of one player in one batch cannot pass the cap together.
 *
 * - An attempt id seen before is `known`: its first result is returned, whatever the rules would
 *   decide now. The exception is an abandoned attempt: its process died before the wallet received
 *   the fee, and the sweeper wrote the fee's tombstone. It is decided again, with a new fee id.
 * - Every other creation is decided in this order (docs/contract/partner-api.md, "POST /attempts",
 *   and "Errors" for the order):
 *   1. `not_found`: no such round, or another tenant's.
 *   2. `entries_closed`: the round is not open, has not begun, or is inside its last ten minutes.
 *   3. `attempt_cap_reached`: the account has bought as many attempts in this round as the cap
 *      allows; refunded ones do not count.
 *   4. `insufficient_funds`: the ref has no account. Every attempt of a round is paid, and no other
 *      account could pay.
 *   When it charges, the wallet may refuse with `insider_entry`, `blocked` or `insufficient_funds`.
 * - Most creations are accepted without a read: `decideCachedEntries` decides them on the cached
 *   round and assumes that the cap does not refuse the player. The optimistic write checks this
 *   against the database and refuses nothing. `decideEntries` decides every other creation, on rows
 *   that it reads then.
 * - The account of a ref is cached, but links move. A creation may rely on the cache, because the
 *   wallet checks the account when it charges. A refusal that depends on the player may not:
 *   `ask_wallet` asks the caller to resolve the ref again, and to decide again.
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
import { deriveId } from '@laurel/values/ids';
import { entriesOpen } from './round-status.ts';
import type { Attempt, Round, RoundTerms } from './tournament.ts';

export type CreationRequest = {
  readonly attemptId: string;
  readonly tenant: Tenant;
  readonly roundId: string;
  readonly playerRef: string;
  /** A JSON object as text. */
  readonly metadata: string;
  readonly idempotencyUse: IdempotencyUse | null;
};

/** The fields of a round that decide an entry. */
export type EntryRound = Pick<Round, 'id' | 'tenant' | 'status' | 'opensAt' | 'entriesCloseAt'> & {
  readonly terms: Pick<RoundTerms, 'entryFeeCents' | 'attemptCap'>;
};

export type CreationFacts = {
  readonly creation: CreationRequest;
  readonly account: NamedAccount;
  readonly round: EntryRound | null;
  /** The attempt with this id, if one exists. */
  readonly known: Attempt | null;
  /**
   * The attempts of the account in the round that count towards its cap; 0 if the ref has no
   * account.
   */
  readonly bought: number;
};

type Created = { readonly kind: 'created'; readonly attempt: Attempt };

export type CreationDecision =
  | { readonly kind: 'known'; readonly attempt: Attempt }
  | Created
  | { readonly kind: 'ask_wallet' }
  | Refused;

export function decideEntries(batch: readonly CreationFacts[], now: Date): readonly CreationDecision[] {
  const createdHere = new Map<string, Attempt>();
  const boughtHere = new Map<string, number>();

  return batch.map((facts) => {
    const { creation, round } = facts;
    const known = createdHere.get(creation.attemptId) ?? facts.known;
    if (known !== null && known.closedReason !== ABANDONED_CODE) {
      if (round === null || known.roundId !== round.id) return refused('not_found');
      if (!isSameTenant(round.tenant, creation.tenant)) return refused('not_found');
      return { kind: 'known', attempt: known };
    }

    const key = `${creation.roundId}:${facts.account.accountId}`;
    const before = boughtHere.get(key) ?? 0;
    const decision = decideCreation({ ...facts, bought: facts.bought + before }, now);
    if (decision.kind === 'created') {
      createdHere.set(creation.attemptId, decision.attempt);
      boughtHere.set(key, before + 1);
    }
    return decision;
  });
}

/**
 * Decides the creations that may be written without a read: those of a cached round, at most one
 * for each player and round. It assumes that the round has not changed, the attempt id is new and
 * the cap does not refuse it. Returns null for every other creation.
 */
export function decideCachedEntries(
  batch: readonly Pick<CreationFacts, 'creation' | 'account' | 'round'>[],
  now: Date,
): readonly (Created | null)[] {
  const decisions = decideEntries(
    batch.map((facts) => ({ ...facts, known: null, bought: 0 })),
    now,
  );
  const created = decisions.map((decision) => (decision.kind === 'created' ? decision : null));
  return oneForEachPlayer(created, ({ attempt }) => attempt.entryId);
}

export type Admitted = { readonly kind: 'admitted'; readonly round: EntryRound };

/** Whether an account may buy one more attempt now; the wallet decides on its money. */
export function decideAdmission(facts: {
  readonly tenant: Tenant;
  readonly round: EntryRound | null;
  readonly bought: number;
  readonly now: Date;
}): Admitted | Refused {
  const { round } = facts;
  if (round === null || !isSameTenant(round.tenant, facts.tenant)) return refused('not_found');
  if (!entriesOpen(round, facts.now)) return refused('entries_closed');
  if (facts.bought >= round.terms.attemptCap) return refused('attempt_cap_reached');
  return { kind: 'admitted', round };
}

/** The id of the one entry of an account in a round. */
export function entryIdOf(roundId: string, accountId: string): string {
  return deriveId(roundId, `entry:${accountId}`);
}

function decideCreation(facts: CreationFacts, now: Date): CreationDecision {
  const { creation, account, bought } = facts;
  const verdict = decideAdmission({ tenant: creation.tenant, round: facts.round, bought, now });
  if (verdict.kind === 'refused') {
    const isAboutThePlayer = verdict.code === 'attempt_cap_reached';
    return isAboutThePlayer && !account.isFresh ? { kind: 'ask_wallet' } : verdict;
  }
  if (account.accountId === null) return account.isFresh ? refused('insufficient_funds') : { kind: 'ask_wallet' };

  const { round } = verdict;
  return {
    kind: 'created',
    attempt: {
      id: creation.attemptId,
      roundId: round.id,
      entryId: entryIdOf(round.id, account.accountId),
      accountId: account.accountId,
      playerRef: creation.playerRef,
      status: 'pending',
      feeCents: round.terms.entryFeeCents,
      metadata: creation.metadata,
      createdAt: now,
      feeGeneration: facts.known === null ? 0 : facts.known.feeGeneration + 1,
      closedReason: null,
    },
  };
}
