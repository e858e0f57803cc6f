/**
 * What a challenge requires of a player (docs/contract/partner-api.md, "Errors": `blocked`).
 * `insider_entry` applies to tournaments only.
 */
import type { Requirement } from '@laurel/attempts/domain';
import type { ChallengeTerms } from './challenge.ts';

export function requirementOf(terms: Pick<ChallengeTerms, 'requiredVerificationLevel' | 'jurisdictions'>): Requirement {
  return {
    verificationLevel: terms.requiredVerificationLevel,
    jurisdictions: terms.jurisdictions,
    refuseInsiders: false,
  };
}
