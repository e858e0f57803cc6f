/** Example values for the tests of the rules. */
import type { EligibilityFacts } from './eligibility.ts';

/** An adult in a served jurisdiction who may play for money. */
export const ELIGIBLE: EligibilityFacts = {
  dateOfBirth: '1990-01-01',
  jurisdiction: 'US-CA',
  verificationLevel: 1,
  selfExcludedUntil: null,
  blocked: false,
  insider: false,
};
