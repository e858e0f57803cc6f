/** Maps values of the domain to messages. */
import { presentTenant } from '@laurel/grpc';
import { PAYOUT_STATUSES } from '@laurel/proto/enum-names';
import type { Account as WireAccount, Payout as WirePayout } from '@laurel/proto/wallet';
import { environmentOf, SHARED_SANDBOX } from '../domain/ledger.ts';
import type { Payout } from '../domain/payout-decision.ts';
import type { Account } from '../repository/accounts.ts';

export function presentPayout(payout: Payout): WirePayout {
  return {
    awardId: payout.awardId,
    attemptId: payout.kind === 'award' ? payout.attemptId : '',
    roundId: payout.kind === 'purse' ? payout.roundId : '',
    tenant: presentTenant(payout),
    accountId: payout.accountId,
    amountCents: payout.amountCents,
    status: PAYOUT_STATUSES[payout.status],
    reason: payout.reason ?? '',
    createdAt: payout.createdAt,
    paidAt: payout.paidAt ?? undefined,
  };
}

export function presentAccount({ selfExcludedUntil, houseId, ...account }: Account): WireAccount {
  const sandboxOnly = environmentOf(houseId) === 'test';
  return {
    ...account,
    selfExcludedUntil: selfExcludedUntil ?? undefined,
    sandboxOnly,
    programId: sandboxOnly && houseId !== SHARED_SANDBOX ? houseId : undefined,
  };
}
