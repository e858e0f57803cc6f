/**
 * Whose sample a score is (docs/contract/rules.md, "Calibration"). In live it belongs to the
 * account that the ref names when the score comes, and only if that account may play for money: a
 * key holder can invent refs, but an account is a person. In test every ref counts. A paid score of
 * a top_n challenge counts without a further check, because the wallet charged its account.
 */
import type { Attempt, AttemptTerms } from './challenge.ts';
import { playerIdentity } from './challenge.ts';

/**
 * What the wallet answered about a ref: the account that it names, and the code that refuses it.
 * Each may be null.
 */
export type PlayerEligibility = { readonly accountId: string | null; readonly code: string | null };

/** The fields of a scored attempt that decide whose sample it is. */
type Scored = {
  readonly attempt: Pick<Attempt, 'accountId' | 'playerRef' | 'threshold'>;
  readonly terms: Pick<AttemptTerms, 'tenant'>;
};

/** Whether the wallet decides whose sample the score is: only for a free attempt in live. */
export function needsEligibility({ attempt, terms }: Scored): boolean {
  return terms.tenant.environment === 'live' && attempt.threshold === null;
}

/** The account for which a score in live counts; null if the score counts for no account. */
export function eligiblePlayer({ accountId, code }: PlayerEligibility): string | null {
  return accountId === null || code !== null ? null : playerIdentity(accountId, '');
}

/** The player as `playerIdentity` returns it; null if the score is not a sample. */
export function samplePlayer(scored: Scored, eligibility: PlayerEligibility | null): string | null {
  const { accountId, playerRef } = scored.attempt;
  if (!needsEligibility(scored)) return playerIdentity(accountId, playerRef);
  return eligibility === null ? null : eligiblePlayer(eligibility);
}
