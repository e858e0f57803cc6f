import { ENVIRONMENTS, nameOf, PAYOUT_STATUSES } from '@laurel/proto/enum-names';
import type { Payout } from '@laurel/proto/wallet';
import { formatAmount } from '@laurel/values/money';

/**
 * A payout as `/api/operator` shows it. Exactly one of `attempt_id` and `round_id` is set; `reason`
 * is why it was held.
 */
export function presentPayout(payout: Payout) {
  if (payout.tenant === undefined || payout.createdAt === undefined)
    throw new Error('the wallet sent an incomplete payout');
  return {
    award_id: payout.awardId,
    attempt_id: payout.attemptId || null,
    round_id: payout.roundId || null,
    program_id: payout.tenant.programId,
    environment: nameOf(ENVIRONMENTS, payout.tenant.environment),
    account_id: payout.accountId,
    amount: formatAmount(payout.amountCents),
    status: nameOf(PAYOUT_STATUSES, payout.status),
    reason: payout.reason || null,
    created_at: payout.createdAt.toISOString(),
    paid_at: payout.paidAt?.toISOString() ?? null,
  };
}
