import { ENVIRONMENTS, nameOf } from '@laurel/proto/enum-names';
import type { ProgramLimits } from '@laurel/proto/wallet';
import { formatAmount } from '@laurel/values/money';

/** The limits of a program in one environment, as `/api/operator` shows them. */
export function presentProgramLimits({ tenant, payoutLimitCents, feeLimitCents, paidCents }: ProgramLimits) {
  if (tenant === undefined) throw new Error('the wallet sent limits without a program');
  return {
    program_id: tenant.programId,
    environment: nameOf(ENVIRONMENTS, tenant.environment),
    payout_limit: payoutLimitCents === undefined ? null : formatAmount(payoutLimitCents),
    fee_limit: feeLimitCents === undefined ? null : formatAmount(feeLimitCents),
    paid: formatAmount(paidCents),
  };
}
