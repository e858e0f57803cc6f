/** What a decision depends on, so that a dialog says if it has changed since the page was read. */
import type { DescribedPayout, Payout } from '../../../api/api-types.ts';
import { money, utcTime } from '../../../kit/format.ts';
import type { Fact } from '../../layout/changes-since.ts';

/** The facts that the list shows. The payout itself names who decided. */
export const PAYOUT_FACTS: readonly Fact<Payout>[] = [{ label: 'Payout', of: stateOf }];

/**
 * What the page of one payout shows, without the sum of its program, which changes with every award
 * that is paid.
 */
export const DESCRIBED_FACTS: readonly Fact<DescribedPayout>[] = [
  ...PAYOUT_FACTS,
  { label: 'Enforcement flag', of: ({ account }) => yesOrNo(account.enforcement_flag) },
  { label: 'Under investigation', of: ({ account }) => yesOrNo(account.under_investigation) },
  { label: 'Blocked', of: ({ account }) => yesOrNo(account.blocked) },
  {
    label: 'Self-excluded until',
    of: ({ account }) => (account.self_excluded_until === null ? 'no' : utcTime(account.self_excluded_until)),
  },
  { label: 'Verification level', of: ({ account }) => String(account.verification_level) },
  {
    label: 'Paid to the account in 24 hours',
    of: ({ paid_24h: { account } }) =>
      `${money(account.amount)} in ${account.count} ${account.count === 1 ? 'payout' : 'payouts'}`,
  },
];

function stateOf({ status, decision }: Payout): string {
  if (decision === null) return status;
  const { operator, at, reason } = decision;
  return `${decision.decision} by ${operator} on ${utcTime(at)}${reason === null ? '' : `: ${reason}`}`;
}

function yesOrNo(value: boolean): string {
  return value ? 'yes' : 'no';
}
