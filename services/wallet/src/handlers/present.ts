/** From the domain to messages. */
import { Environment as WireEnvironment } from '@laurel/proto/common';
import { PayoutStatus, type Account as WireAccount, type Payout as WirePayout } from '@laurel/proto/wallet';
import type { Payout } from '../domain/award-decision.ts';
import type { Environment } from '../domain/ledger.ts';
import type { Account } from '../repository/accounts.ts';

const WIRE_ENVIRONMENT: Record<Environment, WireEnvironment> = {
  test: WireEnvironment.TEST,
  live: WireEnvironment.LIVE,
};

const WIRE_PAYOUT_STATUS: Record<Payout['status'], PayoutStatus> = {
  paid: PayoutStatus.PAID,
  held: PayoutStatus.HELD,
  denied: PayoutStatus.DENIED,
};

export function presentPayout(payout: Payout): WirePayout {
  return {
    awardId: payout.awardId,
    attemptId: payout.kind === 'award' ? payout.attemptId : '',
    roundId: payout.kind === 'purse' ? payout.roundId : '',
    tenant: { programId: payout.programId, environment: WIRE_ENVIRONMENT[payout.environment] },
    accountId: payout.accountId,
    amountCents: payout.amountCents,
    status: WIRE_PAYOUT_STATUS[payout.status],
    reason: payout.reason ?? '',
    createdAt: payout.createdAt,
    paidAt: payout.paidAt ?? undefined,
  };
}

export function presentAccount({ selfExcludedUntil, ...account }: Account): WireAccount {
  return { ...account, selfExcludedUntil: selfExcludedUntil ?? undefined };
}
