import { ENVIRONMENTS, nameOf, PAYOUT_STATUSES } from '@laurel/proto/enum-names';
import type { DescribePayoutResponse, Payout, PayoutDecision } from '@laurel/proto/wallet';
import { formatAmount } from '@laurel/values/money';
import { decisionOf } from '../domain/payout-decision.ts';
import { presentAccount } from './account.ts';

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

/** A payout with its account and the payouts of 24 hours, for an operator who decides on it. */
export function presentDescribedPayout(described: DescribePayoutResponse) {
  const { payout, account, accountPayouts, programLimits } = described;
  if (payout === undefined || account === undefined || accountPayouts === undefined || programLimits === undefined)
    throw new Error('the wallet sent an incomplete description of a payout');
  const shown = presentAccount(account);
  return {
    ...presentPayout(payout),
    account: {
      id: shown.id,
      email: shown.email,
      enforcement_flag: shown.enforcement_flag,
      under_investigation: shown.under_investigation,
      blocked: shown.blocked,
      verification_level: shown.verification_level,
      self_excluded_until: shown.self_excluded_until,
      sandbox_only: shown.sandbox_only,
    },
    paid_24h: {
      account: {
        count: Number(accountPayouts.paidCount),
        amount: formatAmount(accountPayouts.paidCents),
        count_limit: Number(accountPayouts.countLimit),
        amount_limit: formatAmount(accountPayouts.limitCents),
      },
      program: {
        amount: formatAmount(programLimits.paidCents),
        amount_limit:
          programLimits.payoutLimitCents === undefined ? null : formatAmount(programLimits.payoutLimitCents),
      },
    },
  };
}
