/**
 * DescribePayout: one payout with what an operator needs to decide on it. The account and the sums
 * of 24 hours are as they are now, not as they were when the payout was held.
 */
import { type Refused, refused } from '@laurel/errors';
import type { Database } from '@laurel/postgres';
import type { DescribePayoutRequest, DescribePayoutResponse } from '@laurel/proto/wallet';
import type { Clock } from '@laurel/service';
import { isUuid } from '@laurel/values/ids';
import type { VelocityLimits } from '../domain/payout-hold.ts';
import { type DefaultLimits, limitsInForce } from '../domain/program-limits.ts';
import { loadAccount } from '../repository/accounts.ts';
import { withDecision } from '../repository/payout-decisions.ts';
import { loadPayout, loadRecentPayouts, velocityWindowStart } from '../repository/payouts.ts';
import { loadProgramLimits } from '../repository/program-limits.ts';
import { presentAccount, presentPayout, presentProgramLimits } from './present.ts';

export function describePayout({
  database,
  clock,
  limits,
  defaults,
}: {
  database: Database;
  clock: Clock;
  limits: VelocityLimits;
  defaults: DefaultLimits;
}) {
  return async ({ awardId }: DescribePayoutRequest): Promise<DescribePayoutResponse | Refused> => {
    const payout = isUuid(awardId) ? await loadPayout(database, awardId) : null;
    if (payout === null) return refused('not_found');
    const since = velocityWindowStart(clock());
    const [reviewed, account, recent, [program]] = await Promise.all([
      withDecision(database, payout),
      loadAccount(database, payout.accountId),
      loadRecentPayouts(database, payout, since),
      loadProgramLimits(database, payout.programId, [payout.environment], since),
    ]);
    if (account === null || program === undefined) throw new Error(`the payout ${awardId} has no account or program`);
    return {
      payout: presentPayout(reviewed),
      account: presentAccount(account),
      accountPayouts: {
        paidCount: BigInt(recent.count),
        paidCents: recent.amountCents,
        countLimit: BigInt(limits.count),
        limitCents: limits.amountCents,
      },
      programLimits: presentProgramLimits(
        payout,
        limitsInForce(payout.environment, program.set, defaults),
        program.paidCents,
      ),
    };
  };
}
