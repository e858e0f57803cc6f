/** Plain nouns for the tests of the rules. */
import type { Standing } from './standing.ts';

/** A grown-up person of a served place whom nothing keeps from playing. */
export const STANDING: Standing = {
  dateOfBirth: '1990-01-01',
  jurisdiction: 'US-CA',
  verificationLevel: 1,
  selfExcludedUntil: null,
  blocked: false,
  insider: false,
};
