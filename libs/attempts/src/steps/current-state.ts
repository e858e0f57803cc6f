/**
 * Reads the current state of an attempt or award from the contest service's rows and the wallet,
 * for operators. The read changes nothing: it rolls nothing forward, and writes no tombstone,
 * refund or payout, even if one is due. A partner's read finishes such work first
 * (roll-forward.ts).
 */

import { isRefused } from '@laurel/errors';
import type { Environment } from '@laurel/values/tenant';
import type { AttemptResult, Contest, FoundAttempt } from '../contest.ts';
import { isVisible } from '../domain/attempt.ts';
import { isUnfinished, type PayableAward } from '../domain/award.ts';
import { feeOf, type OwnedAttempt } from '../domain/owned-attempt.ts';
import type { Wallet } from '../wallet.ts';
import type { AttemptOpener } from './open-attempts.ts';

/** An attempt. `result` is the outcome and the prize of a settled attempt; null for others. */
export type CurrentAttempt = { readonly attempt: OwnedAttempt; readonly result: AttemptResult | null };

/**
 * Returns the attempt as just read, with its outcome; null if no partner was ever shown the
 * attempt.
 */
export async function currentState(
  { attempt: found, tenant }: FoundAttempt,
  deps: { contest: Contest; opener: AttemptOpener; wallet: Wallet },
): Promise<CurrentAttempt | null> {
  const { contest, wallet } = deps;
  const attempt = await currentAttempt(found, tenant.environment, deps);
  if (attempt === null) return null;
  if (attempt.status !== 'settled') return { attempt, result: null };
  const [outcome, owed] = await Promise.all([contest.loadOutcome(attempt.id), contest.findAwardOf(attempt.id)]);
  return { attempt, result: { outcome, award: owed === null ? null : await currentAward(owed.award, wallet) } };
}

/** Returns the attempt as just read; null if no partner was ever shown the attempt. */
export async function currentAttempt(
  found: OwnedAttempt,
  environment: Environment,
  { opener, wallet }: { opener: AttemptOpener; wallet: Wallet },
): Promise<OwnedAttempt | null> {
  if (found.status !== 'pending') return isVisible(found.status) ? found : null;
  if (!opener.isKnownPosted(found.id)) {
    const { kind } = await wallet.resolveFee({ ...feeOf(found), environment, tombstoneIfAbsent: false });
    if (kind !== 'posted') return null;
  }
  return { ...found, status: 'open' };
}

/**
 * Returns the award with its status in the wallet. If the wallet has not decided the award, no
 * money has moved, so the award counts as held.
 */
export async function currentAward(award: PayableAward, wallet: Wallet): Promise<PayableAward> {
  if (!isUnfinished(award)) return award;
  const payout = await wallet.getPayout(award.id);
  return isRefused(payout)
    ? { ...award, status: 'held', paidAt: null }
    : { ...award, status: payout.status, paidAt: payout.paidAt };
}
