import { ENVIRONMENTS, nameOf, PAYOUT_STATUSES } from '@laurel/proto/enum-names';
import type { Payout, PayoutDecision } from '@laurel/proto/wallet';
import { formatAmount } from '@laurel/values/money';
import { decisionOf } from '../domain/payout-decision.ts';

/**
 * A payout as `/api/operator` shows it. Exactly one of `attempt_id` and `round_id` is set; `reason`
 * is why it was held, `decision` what an operator decided.
 */
export function presentPayout(payout: Payout) {
  if (payout.tenant === undefined || payout.createdAt === undefined)
    throw new Error('the wallet sent an incomplete payout');
  const status = nameOf(PAYOUT_STATUSES, payout.status);
  const reason = payout.reason || null;
  return {
    award_id: payout.awardId,
    attempt_id: payout.attemptId || null,
    round_id: payout.roundId || null,
    program_id: payout.tenant.programId,
    environment: nameOf(ENVIRONMENTS, payout.tenant.environment),
    account_id: payout.accountId,
    amount: formatAmount(payout.amountCents),
    status,
    reason,
    created_at: payout.createdAt.toISOString(),
    paid_at: payout.paidAt?.toISOString() ?? null,
    decision: presentDecision(decisionOf({ status, reason }), payout.decision),
  };
}

function presentDecision(decision: 'released' | 'denied' | null, kept: PayoutDecision | undefined) {
  if (decision === null || kept === undefined) return null;
  if (kept.decidedAt === undefined) throw new Error('the wallet sent a decision without its time');
  return { decision, at: kept.decidedAt.toISOString(), operator: kept.operator, reason: kept.reason ?? null };
}
