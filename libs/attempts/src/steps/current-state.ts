/**
 * The current state of an attempt or an award, from the owner's rows and the wallet. Reading it changes nothing: nothing is rolled forward,
 * tombstoned, refunded or paid, not even what is due. For operators; a partner is answered by roll-forward.ts, which finishes first.
 */

import { isRefused } from '@laurel/errors';
import type { Environment } from '@laurel/tenant';
import { isVisible } from '../domain/attempt.ts';
import { isUnfinished, type PayableAward } from '../domain/award.ts';
import { feeOf, type OwnedAttempt } from '../domain/owned-attempt.ts';
import type { Wallet } from '../wallet.ts';
import type { AttemptOpener } from './open-attempts.ts';

/** The attempt, as it was just read; null where it was never shown to a partner. */
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

/** The award as the wallet has it; one that the wallet has not decided yet has moved no money, and therefore counts as held. */
export async function currentAward(award: PayableAward, wallet: Wallet): Promise<PayableAward> {
  if (!isUnfinished(award)) return award;
  const payout = await wallet.getPayout(award.id);
  return isRefused(payout)
    ? { ...award, status: 'held', paidAt: null }
    : { ...award, status: payout.status, paidAt: payout.paidAt };
}
