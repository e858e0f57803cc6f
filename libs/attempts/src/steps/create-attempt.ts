/**
 * How an attempt is paid for exactly once: reserve -> charge -> open.
 *
 * 1. The reservation, the owner's commit: it applies the rules and inserts the attempt `pending`; a free one `open`. A refusal ends
 *    here and writes nothing.
 * 2. The wallet posts the fee, or writes a refusal as the tombstone of its id. That row decides.
 * 3. `open` or `refused` is written after it.
 *
 * After a crash at any point, a retry with the same attempt id finds its row and goes on from there, and so does the sweeper.
 */
import { isApiErrorCode, isRefused, type Refused, refused } from '@laurel/errors';
import type { AttemptOwner } from '@laurel/ids';
import type { AccountCache } from '../account-cache.ts';
import { ABANDONED, feeOf, type OwnedAttempt } from '../domain/owned-attempt.ts';
import type { NamedAccount, Player, Requirement } from '../domain/player.ts';
import { failpoint } from '../failpoints.ts';
import type { Wallet } from '../wallet.ts';
import type { AttemptOpener } from './open-attempts.ts';

/**
 * What the reservation decided about a creation: the attempt, written now or before; `ask_wallet` where it must not be decided on the
 * cache.
 */
export type Reservation<Attempt extends OwnedAttempt> =
  | { readonly kind: 'written'; readonly attempt: Attempt; readonly requirement: Requirement }
  | { readonly kind: 'ask_wallet' }
  | Refused;

/** One attempt to create, and the owner's part in it. */
export type AttemptPlan<Attempt extends OwnedAttempt> = {
  readonly attemptId: string;
  readonly player: Player;
  /** The reservation. */
  reserve(account: NamedAccount): Promise<Reservation<Attempt>>;
  /** The ref names another account now: moves the pending attempt to that account, if the rules allow it. */
  moveTo(attempt: Attempt, accountId: string): Promise<Attempt | Refused>;
};

/** `written` resolves with true once `open` is written or needs no write, or with false where the write failed; it never rejects. */
export type CreatedAttempt<Attempt extends OwnedAttempt> = {
  readonly kind: 'created';
  readonly attempt: Attempt;
  readonly written: Promise<boolean>;
};

export type CreateDeps = { owner: AttemptOwner; wallet: Wallet; accounts: AccountCache; opener: AttemptOpener };

// Links, abandoned fees and races with other processes can restart a creation, each for a reason that is transient.
const MAX_ROUNDS = 5;

/** One creation, from the reservation to the wallet's decision. */
export async function createAttempt<Attempt extends OwnedAttempt>(
  plan: AttemptPlan<Attempt>,
  deps: CreateDeps,
): Promise<CreatedAttempt<Attempt> | Refused> {
  const cached = deps.accounts.get(plan.player);
  let account = cached === null ? await askForAccount(plan.player, deps) : { accountId: cached, isFresh: false };

  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const reservation = await plan.reserve(account);
    if (reservation.kind === 'refused') return reservation;
    if (reservation.kind === 'ask_wallet') {
      account = await askForAccount(plan.player, deps);
      continue;
    }
    const { attempt, requirement } = reservation;
    if (attempt.status === 'refused') return refusalOf(attempt);
    if (attempt.status !== 'pending') return { kind: 'created', attempt, written: Promise.resolve(true) };

    const charged = await charge(attempt, requirement, plan, deps);
    if (charged.kind !== 'abandoned') return charged;
  }
  throw new Error(`attempt ${plan.attemptId} was not decided in ${MAX_ROUNDS} rounds`);
}

async function askForAccount(player: Player, { wallet, accounts }: CreateDeps): Promise<NamedAccount> {
  const accountId = await wallet.resolvePlayer(player);
  accounts.put(player, accountId);
  return { accountId, isFresh: true };
}

/** The refusal that is stored on the attempt. */
function refusalOf(attempt: OwnedAttempt): Refused {
  const code = attempt.closedReason ?? '';
  if (!isApiErrorCode(code)) throw new Error(`attempt ${attempt.id} was refused for "${code}"`);
  return refused(code);
}

/** The wallet's decision; `abandoned` when the fee got a tombstone before the wallet received it, and the attempt may be restarted. */
async function charge<Attempt extends OwnedAttempt>(
  pending: Attempt,
  requirement: Requirement,
  plan: AttemptPlan<Attempt>,
  { owner, wallet, accounts, opener }: CreateDeps,
): Promise<CreatedAttempt<Attempt> | Refused | { readonly kind: 'abandoned' }> {
  const player = { tenant: plan.player.tenant, playerRef: pending.playerRef };
  let attempt = pending;

  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    if (attempt.accountId === null) throw new Error(`attempt ${attempt.id} has a fee and no account to pay it`);
    const fee = { attemptId: attempt.id, feeGeneration: attempt.feeGeneration };
    await failpoint(`${owner}.create.before-charge`);
    const result = await wallet.chargeFee({
      ...feeOf(attempt),
      player,
      accountId: attempt.accountId,
      feeCents: attempt.feeCents,
      requirement,
    });
    await failpoint(`${owner}.create.after-charge`);

    if (result.kind === 'posted') return opened(attempt, opener);
    if (result.kind === 'refused') {
      // A refusal frees the key: the request that found this attempt by its key is an operation of its own then.
      if (attempt.id === plan.attemptId && result.code !== 'internal_error' && isApiErrorCode(result.code)) {
        void opener.refuse(fee, result.code);
        return refused(result.code);
      }
      await opener.refuse(fee, ABANDONED);
      return { kind: 'abandoned' };
    }

    accounts.put(player, result.accountId);
    const moved =
      result.accountId === null ? refused('insufficient_funds') : await plan.moveTo(attempt, result.accountId);
    if (!isRefused(moved)) {
      attempt = moved;
      continue;
    }
    // The attempt cannot go on. Its fee must not be posted late either, so the refusal is final only once the fee has its tombstone.
    const resolution = await wallet.resolveFee({
      ...feeOf(attempt),
      environment: player.tenant.environment,
      tombstoneIfAbsent: true,
    });
    if (resolution.kind === 'posted') return opened(attempt, opener);
    await opener.refuse(fee, moved.code);
    return moved;
  }
  throw new Error(`the player of attempt ${pending.id} was moved ${MAX_ROUNDS} times while it was charged`);
}

function opened<Attempt extends OwnedAttempt>(attempt: Attempt, opener: AttemptOpener): CreatedAttempt<Attempt> {
  const written = opener.openCreated({ attemptId: attempt.id, feeGeneration: attempt.feeGeneration });
  return { kind: 'created', attempt: { ...attempt, status: 'open' }, written };
}
