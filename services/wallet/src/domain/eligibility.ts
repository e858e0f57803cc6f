/**
 * Eligibility: whether an account may play for money (docs/contract/partner-api.md, "POST
 * /attempts"; docs/contract/rules.md, "Players, accounts, money").
 *
 * `blocked`: the player is self-excluded, under age, below the contest's verification level, under
 * an enforcement block, or, in live only, in a jurisdiction that the service or the contest does
 * not serve. Test money has no jurisdiction.
 * `insider_entry`: the account is linked to the partner's own developer account and the contest
 * refuses insiders; in live only.
 * `blocked` comes first, because it concerns the person and applies to every contest.
 */
import { isBefore } from '@laurel/values/instant';
import type { Environment } from '@laurel/values/tenant';

/**
 * The facts that decide eligibility: the person's, and whether the account is an insider of the
 * requesting program.
 */
export type EligibilityFacts = {
  /** `YYYY-MM-DD`. */
  readonly dateOfBirth: string;
  readonly jurisdiction: string;
  readonly verificationLevel: number;
  readonly selfExcludedUntil: Date | null;
  readonly blocked: boolean;
  readonly insider: boolean;
};

/** What the contest requires in addition to the rules that always apply. */
export type Requirement = {
  readonly verificationLevel: number;
  /** An empty list serves all. */
  readonly jurisdictions: readonly string[];
  readonly refuseInsiders: boolean;
};

export type EligibilityRules = {
  readonly minimumAgeYears: number;
  /** An empty list serves all. */
  readonly servedJurisdictions: readonly string[];
};

/** The age from which a person may play, unless the configuration sets another age. */
export const DEFAULT_MINIMUM_AGE_YEARS = 18;

/**
 * Above any person's age. A much greater value could lead to a year of five digits, which does not
 * compare as a date.
 */
export const MAX_AGE_YEARS = 150;

export type EligibilityRefusal = 'blocked' | 'insider_entry';

const DAY = /^\d{4}-\d{2}-\d{2}$/;

export function decideEligibility(facts: {
  readonly eligibility: EligibilityFacts;
  readonly requirement: Requirement;
  readonly environment: Environment;
  readonly rules: EligibilityRules;
  readonly now: Date;
}): EligibilityRefusal | null {
  const { eligibility, requirement, environment, rules, now } = facts;
  const live = environment === 'live';

  if (eligibility.blocked) return 'blocked';
  // From `selfExcludedUntil` on, that instant included, the player is no longer excluded.
  if (eligibility.selfExcludedUntil !== null && isBefore(now, eligibility.selfExcludedUntil)) return 'blocked';
  if (!isOfAge(eligibility.dateOfBirth, rules.minimumAgeYears, now)) return 'blocked';
  if (eligibility.verificationLevel < requirement.verificationLevel) return 'blocked';
  if (live && !serves(rules.servedJurisdictions, eligibility.jurisdiction)) return 'blocked';
  if (live && !serves(requirement.jurisdictions, eligibility.jurisdiction)) return 'blocked';
  if (live && requirement.refuseInsiders && eligibility.insider) return 'insider_entry';
  return null;
}

/**
 * Whether the person has had the birthday, by the UTC calendar. For a person born on 29 February it
 * is 1 March in a common year. Throws RangeError for text that is not a day: some such texts would
 * compare as if the person were of age.
 */
export function isOfAge(dateOfBirth: string, years: number, now: Date): boolean {
  if (!DAY.test(dateOfBirth)) throw new RangeError('a date of birth is not a day');
  const [year, ...monthAndDay] = dateOfBirth.split('-');
  const yearOfAge = Number(year) + years;
  // Dates are compared as text. As text, a year of five digits would be before the current year.
  if (yearOfAge > 9_999) return false;
  const birthday = [String(yearOfAge).padStart(4, '0'), ...monthAndDay].join('-');
  return now.toISOString().slice(0, 10) >= birthday;
}

function serves(jurisdictions: readonly string[], jurisdiction: string): boolean {
  return jurisdictions.length === 0 || jurisdictions.includes(jurisdiction);
}
