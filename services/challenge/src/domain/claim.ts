/**
 * A claim: an outcome that clears the bar of a paid attempt claims the prize frozen on the attempt,
 * for the account that paid. If an account has several claims to a challenge, the first wins the
 * prize; the constraint awards_one_per_challenge_and_account decides it.
 *
 * The award's id derives from the attempt, so every report of the attempt claims the same award. If
 * this database has lost a win that the wallet has decided, the next report of the attempt finds
 * that payout, even under another operation.
 */
import { awardIdOf } from '@laurel/values/ids';
import type { Award } from './challenge.ts';
import type { SettlingReport } from './outcome-decision.ts';

export type Claim = Omit<Award, 'status' | 'createdAt' | 'paidAt'>;

/** The claim of the prize that an outcome makes; null if the outcome claims no prize. */
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
