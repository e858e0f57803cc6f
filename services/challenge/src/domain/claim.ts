/**
 * A claim: an outcome that clears the bar of a paid attempt claims the prize that was frozen on the attempt, for the account that paid. The
 * award's id derives from the attempt, so that every report of it claims the same award: where this database has lost a win that the wallet
 * has decided, the next report of the attempt finds that payout, under whichever operation it comes. Of one account's claims to a challenge
 * the first wins the prize; the constraint awards_one_per_challenge_and_account decides it.
 */
import { awardIdOf } from '@laurel/ids';
import type { Award } from './challenge.ts';
import type { SettlingReport } from './outcome-decision.ts';

export type Claim = Omit<Award, 'status' | 'createdAt' | 'paidAt'>;

/** Null where the outcome claims no prize. */
export function claimOf({ claimsPrize, found: { attempt } }: SettlingReport): Claim | null {
  if (!claimsPrize) return null;
  if (attempt.accountId === null) throw new Error(`attempt ${attempt.id} can win a prize and has no account`);
  return {
    id: awardIdOf(attempt.id, 'challenge'),
    attemptId: attempt.id,
    challengeId: attempt.challengeId,
    accountId: attempt.accountId,
    amountCents: attempt.prizeCents,
  };
}
