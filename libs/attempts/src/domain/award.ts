/**
 * A prize that is owed, and its payout status. The statuses `paying`, `holding`, `releasing` and
 * `denying` lie between the contest service's commit and the wallet's commit. They only roll
 * forward: `paying` to `paid` or `held`, `holding` to `held`, `releasing` to `paid`, `denying` to
 * `denied`.
 *
 * If drift has suspended the challenge, the contest service writes `holding` in the commit that
 * records the win. Any process that rolls the award forward, also after a crash, asks the wallet to
 * hold the payout.
 */
import type { Cents } from '@laurel/values/money';
import type { Tenant } from '@laurel/values/tenant';

export type AwardStatus = 'paying' | 'holding' | 'paid' | 'held' | 'releasing' | 'denying' | 'denied';

/**
 * What an award is paid for: the winning attempt of a challenge, or a rank of a round, from its
 * purse.
 */
export type PrizeOf = { readonly attemptId: string } | { readonly roundId: string };

/** The fields of an award that challenges and rounds share. */
export type PayableAward = PrizeOf & {
  readonly id: string;
  readonly accountId: string;
  readonly amountCents: Cents;
  readonly status: AwardStatus;
  readonly paidAt: Date | null;
};

/** An award and the tenant of the player to whom it is owed, as the wallet needs them. */
export type OwedAward<Award extends PayableAward> = { readonly award: Award; readonly tenant: Tenant };

/** The status of a payout in the wallet. */
export type PayoutRecord = {
  readonly awardId: string;
  readonly status: Extract<AwardStatus, 'paid' | 'held' | 'denied'>;
  readonly paidAt: Date | null;
};

/** A payout, and the status that the award had when the wallet was called. */
export type PayoutOf = PayoutRecord & { readonly asked: AwardStatus };

export function isUnfinished({ status }: PayableAward): boolean {
  return status === 'paying' || status === 'holding' || status === 'releasing' || status === 'denying';
}
