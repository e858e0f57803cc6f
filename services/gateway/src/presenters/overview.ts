import { formatAmount } from '@laurel/money';
import type { Environment } from '@laurel/proto/common';
import { ENVIRONMENTS, nameOf } from '@laurel/proto/enum-names';
import type { GetProgramMoneyResponse } from '@laurel/proto/wallet';
import type { SummarizeDeliveriesResponse } from '@laurel/proto/webhook';

export interface Overview {
  readonly environment: Environment;
  readonly hours: number;
  readonly from: Date;
  readonly to: Date;
  readonly money: GetProgramMoneyResponse;
  readonly deliveries: SummarizeDeliveriesResponse;
}

export function presentOverview({ environment, hours, from, to, money, deliveries }: Overview) {
  const { feesCents, refundsCents, paidCents, heldCents } = money;
  const { delivered, failed, pending, countedFrom, endpointCreatedAt, deliveredAt } = deliveries;
  return {
    environment: nameOf(ENVIRONMENTS, environment),
    hours,
    from: from.toISOString(),
    to: to.toISOString(),
    quick_start: {
      endpoint_created_at: endpointCreatedAt?.toISOString() ?? null,
      webhook_delivered_at: deliveredAt?.toISOString() ?? null,
    },
    money: {
      fees: feesCents === undefined ? null : formatAmount(feesCents),
      refunds: refundsCents === undefined ? null : formatAmount(refundsCents),
      paid: formatAmount(paidCents),
      held: formatAmount(heldCents),
    },
    deliveries: { delivered, failed, pending, counted_from: countedFrom?.toISOString() ?? null },
  };
}
