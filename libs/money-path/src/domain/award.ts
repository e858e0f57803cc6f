/**
 * A prize that is owed, and where it stands. `paying`, `releasing` and `denying` lie between the owner's commit and the wallet's; they
 * only roll forward: `paying` to `paid` or `held`, `releasing` to `paid`, `denying` to `denied`.
 */
import type { Cents } from '@laurel/money';
import type { Tenant } from './tenant.ts';

export type AwardStatus = 'paying' | 'paid' | 'held' | 'releasing' | 'denying' | 'denied';

/** What an award is paid for: the winning attempt of a challenge, or a rank of a round, out of its purse. */
export type PrizeOf = { readonly attemptId: string } | { readonly roundId: string };

/** An award as far as the money path knows it. */
export type PayableAward = PrizeOf & {
  readonly id: string;
  readonly accountId: string;
  readonly amountCents: Cents;
  readonly status: AwardStatus;
  readonly paidAt: Date | null;
};

/** An award and whose it is, as the wallet needs it. */
export type OwedAward<Award extends PayableAward> = { readonly award: Award; readonly tenant: Tenant };

/** Where the wallet says that a payout stands. */
export type PayoutRecord = {
  readonly awardId: string;
  readonly status: Extract<AwardStatus, 'paid' | 'held' | 'denied'>;
  readonly paidAt: Date | null;
};

/** A payout, and the status of the award for which the wallet was asked about it. */
export type PayoutOf = PayoutRecord & { readonly asked: AwardStatus };

export function isUnfinished({ status }: PayableAward): boolean {
  return status === 'paying' || status === 'releasing' || status === 'denying';
}
