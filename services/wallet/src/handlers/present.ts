/** Maps values of the domain to messages. */
import { presentTenant } from '@laurel/grpc';
import { PAYOUT_STATUSES } from '@laurel/proto/enum-names';
import {
  PayoutStatus,
  type Account as WireAccount,
  type Payout as WirePayout,
  type ProgramLimits as WireProgramLimits,
} from '@laurel/proto/wallet';
import type { Cents } from '@laurel/values/money';
import { environmentOf, SHARED_SANDBOX } from '../domain/ledger.ts';
import type { PayoutRequest } from '../domain/payout-decision.ts';
import type { ReviewedPayout } from '../domain/payout-review.ts';
import type { ProgramLimits, ProgramName } from '../domain/program-limits.ts';
import type { Account } from '../repository/accounts.ts';

export function presentPayout({ decision, ...payout }: ReviewedPayout): WirePayout {
  return {
    ...presentTerms(payout),
    status: PAYOUT_STATUSES[payout.status],
    reason: payout.reason ?? '',
    createdAt: payout.createdAt,
    paidAt: payout.paidAt ?? undefined,
    ...(decision !== undefined && { decision: { ...decision, reason: decision.reason ?? undefined } }),
  };
}

/** A payment that changed nothing: its award id has a payout on other terms. */
export function presentUndecided(payment: PayoutRequest): WirePayout {
  const status = PayoutStatus.UNSPECIFIED;
  return { ...presentTerms(payment), status, reason: '', createdAt: undefined, paidAt: undefined };
}

function presentTerms(payment: PayoutRequest) {
  return {
    awardId: payment.awardId,
    attemptId: payment.kind === 'award' ? payment.attemptId : '',
    roundId: payment.kind === 'purse' ? payment.roundId : '',
    tenant: presentTenant(payment),
    accountId: payment.accountId,
    amountCents: payment.amountCents,
  };
}

export function presentProgramLimits(program: ProgramName, limits: ProgramLimits, paidCents: Cents): WireProgramLimits {
  return {
    tenant: presentTenant(program),
    payoutLimitCents: limits.payoutCents ?? undefined,
    feeLimitCents: limits.feeCents ?? undefined,
    paidCents,
  };
}

export function presentAccount({ selfExcludedUntil, feeLimitCents, houseId, ...account }: Account): WireAccount {
  const sandboxOnly = environmentOf(houseId) === 'test';
  return {
    ...account,
    selfExcludedUntil: selfExcludedUntil ?? undefined,
    feeLimitCents: feeLimitCents ?? undefined,
    sandboxOnly,
    programId: sandboxOnly && houseId !== SHARED_SANDBOX ? houseId : undefined,
  };
}
