/**
 * Whether a deposit is posted.
 *
 * - A reference brings cash in once. A repeat with the same amount changes nothing; a repeat with
 *   another amount is a conflict.
 * - A deposit may compensate for an attempt of the account. A repeat that names another attempt is
 *   a conflict too, so that no link is lost.
 * - A deposit may not take a player's balance above a limit, in test 10,000.00 of play money. A
 *   prize is owed, so it may take the balance above the limit. The account then accepts no deposit.
 *
 * So no caller can bring the house's account near the limit of a bigint: it holds 9.2 x 10^10
 * deposits of 10^8 cents in live, and 9.2 x 10^12 of 10^6 cents in each program's sandbox.
 */

import { type Refused, refused } from '@laurel/errors';
import { type Cents, cents, formatAmount } from '@laurel/values/money';
import type { Environment } from '@laurel/values/tenant';

/**
 * The highest balance that a deposit may reach. The constraint transfers_deposit_within_cap has the
 * same limits.
 */
export const MAX_BALANCE_CENTS: Record<Environment, Cents> = { test: cents(10_000_00n), live: cents(1_000_000_00n) };

export function decideDeposit({
  environment,
  balanceCents,
  amountCents,
  storedCents,
  attemptId = null,
  storedAttemptId = null,
}: {
  readonly environment: Environment;
  readonly balanceCents: Cents;
  readonly amountCents: Cents;
  /** The amount already posted under the reference; null for none. */
  readonly storedCents: Cents | null;
  /** The attempt that the deposit compensates for; null for none. */
  readonly attemptId?: string | null;
  /** The attempt that is stored under the reference; null for none. */
  readonly storedAttemptId?: string | null;
}): 'post' | 'done' | Refused {
  if (storedCents !== null) {
    if (storedCents !== amountCents) return refused('conflict', 'The reference was used for another amount.');
    return storedAttemptId === attemptId ? 'done' : refused('conflict', 'The reference was used for another attempt.');
  }
  const most = MAX_BALANCE_CENTS[environment];
  if (balanceCents + amountCents <= most) return 'post';
  return refused(
    'invalid_request',
    `A deposit may take the balance to ${formatAmount(most)} at the most; it is ${formatAmount(balanceCents)} now.`,
  );
}
