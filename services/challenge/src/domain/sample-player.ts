/**
 * Whose sample a score is (docs/contract/rules.md, "Calibration"). In live it is that of the account which the ref names as the score
 * comes, and only where that account may play for money: a key holder invents refs, and an account is a person. In test every ref counts.
 * A paid score of a top_n challenge counts as it is: the wallet charged its account.
 */
import type { Attempt, AttemptTerms } from './challenge.ts';
import { playerIdentity } from './challenge.ts';

/** What the wallet answered about a ref: the account that it names, and the code that refuses it; null for none of either. */
export type PlayerEligibility = { readonly accountId: string | null; readonly code: string | null };

/** An attempt that scored, as far as its sample depends on it. */
type Scored = {
  readonly attempt: Pick<Attempt, 'accountId' | 'playerRef' | 'threshold'>;
  readonly terms: Pick<AttemptTerms, 'tenant'>;
};

/** Whether the wallet decides whose sample the score is: a free attempt's in live. */
export function needsEligibility({ attempt, terms }: Scored): boolean {
  return terms.tenant.environment === 'live' && attempt.threshold === null;
}

/** The account that a score of live money counts for; null where it counts for none. */
export function eligiblePlayer({ accountId, code }: PlayerEligibility): string | null {
  return accountId === null || code !== null ? null : playerIdentity(accountId, '');
}

/** As in `playerIdentity`; null where the score is no sample. */
export function samplePlayer(scored: Scored, eligibility: PlayerEligibility | null): string | null {
  const { accountId, playerRef } = scored.attempt;
  if (!needsEligibility(scored)) return playerIdentity(accountId, playerRef);
  return eligibility === null ? null : eligiblePlayer(eligibility);
}
