/** What was paid in 24 hours compared with the limits, and which limits a payout would exceed. */
import type { DescribedPayout } from '../../../api/api-types.ts';
import { formatCount, money } from '../../../kit/format.ts';

export interface DayLimit {
  readonly what: string;
  readonly paid: string;
  readonly limit: string;
  /** With this payout, the sum would be over the limit. Null without a limit. */
  readonly isExceeded: boolean | null;
}

type Payout = Pick<DescribedPayout, 'amount' | 'paid_24h'>;

export function dayLimitsOf({ amount, paid_24h: { account, program } }: Payout): readonly DayLimit[] {
  return [
    {
      what: 'Payouts to the account',
      paid: formatCount(account.count),
      limit: formatCount(account.count_limit),
      isExceeded: account.count + 1 > account.count_limit,
    },
    { what: 'Paid to the account', ...paidOf(account, amount) },
    { what: 'Paid by the program, to every account', ...paidOf(program, amount) },
  ];
}

type Paid = { readonly amount: string; readonly amount_limit: string | null };

function paidOf({ amount: paid, amount_limit: limit }: Paid, more: string): Omit<DayLimit, 'what'> {
  return {
    paid: money(paid),
    limit: limit === null ? 'no limit' : money(limit),
    isExceeded: limit === null ? null : centsOf(paid) + centsOf(more) > centsOf(limit),
  };
}

/** Every amount of the API has two places. */
function centsOf(amount: string): bigint {
  return BigInt(amount.replace('.', ''));
}
