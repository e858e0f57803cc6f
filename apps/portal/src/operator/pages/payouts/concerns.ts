import type { Account } from '../../../api/api-types.ts';
import { isExcluded } from '../accounts/exclusion.ts';

type Flags = Pick<Account, 'enforcement_flag' | 'under_investigation' | 'blocked' | 'self_excluded_until'>;

/** Returns what speaks against a payout to the account, in words. */
export function concernsOf(account: Flags, now: Date): readonly string[] {
  return [
    ...(account.enforcement_flag ? ['enforcement flag'] : []),
    ...(account.under_investigation ? ['under investigation'] : []),
    ...(account.blocked ? ['blocked'] : []),
    ...(isExcluded(account.self_excluded_until, now) ? ['self-excluded'] : []),
  ];
}
