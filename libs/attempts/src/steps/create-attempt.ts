/**
 * Pays for an attempt exactly once: reserve -> charge -> open.
 *
 * 1. The reservation is the contest's commit: it applies the rules and inserts the attempt
 *    `pending`, or `open` if it is free. A refusal ends here and writes nothing.
 * 2. The wallet posts the fee, or writes a refusal as the tombstone of the fee's id. The wallet's
 *    row decides.
 * 3. The contest service writes `open` or `refused` after the wallet's decision.
 *
 * After a crash at any point, a retry with the same attempt id finds the attempt's row and
 * continues from there. The sweeper does so too.
 */
import { isApiErrorCode, isRefused, type Refused, refused } from '@laurel/errors';
import type { ContestServiceName } from '@laurel/values/ids';
import type { AccountCache } from '../account-cache.ts';
import type { Contest, CreationRequest, ReservedAttempt } from '../contest.ts';
import { ABANDONED_CODE, feeOf } from '../domain/owned-attempt.ts';
import type { NamedAccount, Player, Requirement } from '../domain/player.ts';
import { failpoint } from '../failpoints.ts';
import type { Wallet } from '../wallet.ts';
import type { AttemptOpener } from './open-attempts.ts';

export type CreateDeps = {
  readonly contestService: ContestServiceName;
  readonly contest: Pick<Contest, 'reserve' | 'moveTo' | 'remember'>;
  readonly wallet: Wallet;
  readonly accounts: AccountCache;
  readonly opener: AttemptOpener;
};

// The most reservations for one creation. An abandoned fee or a race with another process makes the
// creation reserve again; both causes are transient.
const MAX_ROUNDS = 5;
/**
 * The most times that a charge follows a player's link to another account. The partner may move the
 * link after the reservation; its rate limit allows some ten moves a second.
 */
const MAX_MOVES = 50;

/**
 * Creates one attempt and returns it once it may be shown: once it is paid for and, if other reads
 * depend on the status, written as `open`.
 */
export async function createAttempt(creation: CreationRequest, deps: CreateDeps): Promise<ReservedAttempt | Refused> {
  const created = await decide(creation, deps);
  if (!isRefused(created)) deps.contest.remember?.(created);
  return created;
}

async function decide(creation: CreationRequest, deps: CreateDeps): Promise<ReservedAttempt | Refused> {
  const { contest, accounts } = deps;
  const cached = accounts.get(creation);
  let account = cached === null ? await askForAccount(creation, deps) : { accountId: cached, isFresh: false };

  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const reservation = await contest.reserve(creation, account);
    if (reservation.kind === 'refused') return reservation;
    if (reservation.kind === 'ask_wallet') {
      account = await askForAccount(creation, deps);
      continue;
    }
    const { attempt, requirement } = reservation;
    if (attempt.status === 'refused') return refusalOf(attempt);
    if (attempt.status !== 'pending') return attempt;

    const charged = await charge(attempt, requirement, creation, deps);
    if (charged !== 'abandoned') return charged;
  }
  throw new Error(`attempt ${creation.attemptId} was not decided in ${MAX_ROUNDS} rounds`);
}

async function askForAccount(player: Player, { wallet, accounts }: CreateDeps): Promise<NamedAccount> {
  const accountId = await wallet.resolvePlayer(player);
  accounts.put(player, accountId);
  return { accountId, isFresh: true };
}

/** The refusal that is stored on the attempt. */
function refusalOf(attempt: ReservedAttempt): Refused {
  const code = attempt.closedReason ?? '';
  if (!isApiErrorCode(code)) throw new Error(`attempt ${attempt.id} was refused for "${code}"`);
  return refused(code);
}

/**
 * Charges the fee and returns the wallet's decision. `abandoned` means that this fee will never be
 * posted, and that the caller must reserve again.
 */
async function charge(
  pending: ReservedAttempt,
  requirement: Requirement,
  creation: CreationRequest,
  { contestService, contest, wallet, accounts, opener }: CreateDeps,
): Promise<ReservedAttempt | Refused | 'abandoned'> {
  const player = { tenant: creation.tenant, playerRef: pending.playerRef };
  let attempt = pending;

  for (let moves = 0; moves <= MAX_MOVES; moves += 1) {
    if (attempt.accountId === null) throw new Error(`attempt ${attempt.id} has a fee and no account to pay it`);
    const fee = { attemptId: attempt.id, feeGeneration: attempt.feeGeneration };
    await failpoint(`${contestService}.create.before-charge`);
    const result = await wallet.chargeFee({
      ...feeOf(attempt),
      player,
      accountId: attempt.accountId,
      feeCents: attempt.feeCents,
      requirement,
    });
    await failpoint(`${contestService}.create.after-charge`);

    if (result.kind === 'posted') return opened(attempt, opener);
    if (result.kind === 'refused') {
      // A refusal frees the idempotency key, so only the request that made this attempt gets the
      // refusal. A request that found the attempt by the key abandons it and runs under its own id.
      // The attempt is also abandoned, and restarted, if its fee has a tombstone without a refusal
      // (`internal_error`). In all three cases the caller waits for the write, so that the next
      // request under the key finds the attempt refused.
      if (attempt.id === creation.attemptId && result.code !== 'internal_error' && isApiErrorCode(result.code)) {
        await opener.refuse(fee, result.code);
        return refused(result.code);
      }
      await opener.refuse(fee, ABANDONED_CODE);
      return 'abandoned';
    }

    accounts.put(player, result.accountId);
    const moved =
      result.accountId === null
        ? refused('insufficient_funds')
        : await contest.moveTo(attempt, result.accountId, creation.tenant);
    if (!isRefused(moved)) {
      attempt = moved;
      continue;
    }
    // This attempt cannot continue, and its fee must not be posted later. So the refusal is final
    // only once the wallet has written the fee's tombstone.
    const resolution = await wallet.resolveFee({
      ...feeOf(attempt),
      environment: player.tenant.environment,
      tombstoneIfAbsent: true,
    });
    if (resolution.kind === 'posted') return opened(attempt, opener);
    await opener.refuse(fee, moved.code);
    return moved;
  }
  throw new Error(`the player of attempt ${pending.id} was moved more than ${MAX_MOVES} times while it was charged`);
}

async function opened(attempt: ReservedAttempt, opener: AttemptOpener): Promise<ReservedAttempt> {
  const written = opener.openCreated({ attemptId: attempt.id, feeGeneration: attempt.feeGeneration });
  // The player has paid even if `open` was not written: a read resolves that.
  if (opener.isAwaited) await written;
  return { ...attempt, status: 'open' };
}
