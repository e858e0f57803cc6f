/**
 * The current state of an attempt or award, from the contest service's rows and the wallet, for
 * operators. Reading it changes nothing: it rolls nothing forward and writes no tombstone, refund
 * or payout, even one that is due. A partner's read finishes such work first (roll-forward.ts).
 */

import { isRefused } from '@laurel/errors';
import type { Environment } from '@laurel/tenant';
import { isVisible } from '../domain/attempt.ts';
import { isUnfinished, type PayableAward } from '../domain/award.ts';
import { feeOf, type OwnedAttempt } from '../domain/owned-attempt.ts';
import type { Wallet } from '../wallet.ts';
import type { AttemptOpener } from './open-attempts.ts';

/** The attempt as just read; null if no partner was ever shown it. */
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
 * The award as it is in the wallet. One that the wallet has not decided yet has moved no money, so
 * it counts as held.
 */
export async function currentAward(award: PayableAward, wallet: Wallet): Promise<PayableAward> {
  if (!isUnfinished(award)) return award;
  const payout = await wallet.getPayout(award.id);
  return isRefused(payout)
    ? { ...award, status: 'held', paidAt: null }
    : { ...award, status: payout.status, paidAt: payout.paidAt };
}
