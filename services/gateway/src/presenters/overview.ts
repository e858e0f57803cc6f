import type { Environment } from '@laurel/proto/common';
import { ENVIRONMENTS, nameOf } from '@laurel/proto/enum-names';
import type { GetProgramMoneyResponse } from '@laurel/proto/wallet';
import type { SummarizeDeliveriesResponse } from '@laurel/proto/webhook';
import { formatAmount } from '@laurel/values/money';
import type { Milestone, RequestSummary } from '../repository/requests.ts';

export interface Overview {
  readonly environment: Environment;
  readonly hours: number;
  readonly from: Date;
  readonly to: Date;
  readonly requests: RequestSummary;
  readonly firsts: Readonly<Record<Milestone, Date | null>>;
  readonly money: GetProgramMoneyResponse;
  readonly deliveries: SummarizeDeliveriesResponse;
}

export function presentOverview({ environment, hours, from, to, requests, firsts, money, deliveries }: Overview) {
  const { feesCents, refundsCents, paidCents, heldCents } = money;
  const { delivered, failed, pending, countedFrom, endpointCreatedAt, deliveredAt } = deliveries;
  return {
    environment: nameOf(ENVIRONMENTS, environment),
    hours,
    from: from.toISOString(),
    to: to.toISOString(),
    quick_start: {
      key_used_at: firsts.key_used?.toISOString() ?? null,
      player_linked_at: firsts.player_linked?.toISOString() ?? null,
      attempt_created_at: firsts.attempt_created?.toISOString() ?? null,
      outcome_reported_at: firsts.outcome_reported?.toISOString() ?? null,
      endpoint_created_at: endpointCreatedAt?.toISOString() ?? null,
      webhook_delivered_at: deliveredAt?.toISOString() ?? null,
    },
    requests: {
      total: requests.total,
      errors_4xx: requests.errors4xx,
      errors_5xx: requests.errors5xx,
      top_errors: requests.topErrors,
      buckets: requests.buckets.map((bucket) => ({
        from: bucket.from.toISOString(),
        ok: bucket.ok,
        errors_4xx: bucket.errors4xx,
        errors_5xx: bucket.errors5xx,
      })),
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
