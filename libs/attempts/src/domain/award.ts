/**
 * A prize that is owed, and its payout status. `paying`, `holding`, `releasing` and `denying` are between the owner's commit and the
 * wallet's; they only roll forward: `paying` to `paid` or `held`, `holding` to `held`, `releasing` to `paid`, `denying` to `denied`.
 *
 * `holding` is the owner's decision, in the commit that records the win: its challenge is suspended by drift. Whoever rolls the award
 * forward has the wallet hold it, after any crash.
 */
import type { Cents } from '@laurel/money';
import type { Tenant } from '@laurel/tenant';

export type AwardStatus = 'paying' | 'holding' | 'paid' | 'held' | 'releasing' | 'denying' | 'denied';

/** What an award is paid for: the winning attempt of a challenge, or a rank of a round, out of its purse. */
export type PrizeOf = { readonly attemptId: string } | { readonly roundId: string };

/** An award, with what is alike for challenges and rounds. */
export type PayableAward = PrizeOf & {
  readonly id: string;
  readonly accountId: string;
  readonly amountCents: Cents;
  readonly status: AwardStatus;
  readonly paidAt: Date | null;
};

/** An award and the player it belongs to, as the wallet needs it. */
export type OwedAward<Award extends PayableAward> = { readonly award: Award; readonly tenant: Tenant };

/** The status of a payout in the wallet. */
export type PayoutRecord = {
  readonly awardId: string;
  readonly status: Extract<AwardStatus, 'paid' | 'held' | 'denied'>;
  readonly paidAt: Date | null;
};

/** A payout, and the status that the award had when the wallet was called for it. */
export type PayoutOf = PayoutRecord & { readonly asked: AwardStatus };

export function isUnfinished({ status }: PayableAward): boolean {
  return status === 'paying' || status === 'holding' || status === 'releasing' || status === 'denying';
}
