/**
 * The validation of an account. The gateway validates it too, but the wallet does not rely on that.
 */

import { type Refused, refused } from '@laurel/errors';
import { foldAscii, isStorable } from '@laurel/json';
import { INSTANT_BOUNDS, isBefore, isInBounds } from '@laurel/values/instant';
import { MAX_EMAIL_CHARACTERS } from '@laurel/values/limits';

export type AccountDetails = {
  readonly email: string;
  readonly dateOfBirth: string;
  readonly jurisdiction: string;
  readonly verificationLevel: number;
};

const SURROUNDING_SPACE = /^[ \t\r\n]+|[ \t\r\n]+$/g;
const EMAIL = /^[^\s@\0]+@[^\s@\0]+$/;
const JURISDICTION = /^[A-Z]{2}(-[A-Z0-9]{1,3})?$/;

/**
 * An e-mail address identifies one person, whatever its case. Only ASCII letters are folded: an
 * address with the Kelvin sign instead of a k is another address.
 */
export function normalizeEmail(email: string): string {
  return foldAscii(email.replace(SURROUNDING_SPACE, ''));
}

/** The details with the e-mail address in lower case, or their first validation issue. */
export function checkAccountDetails(details: AccountDetails, now: Date): AccountDetails | Refused {
  const { dateOfBirth, jurisdiction, verificationLevel } = details;
  const email = normalizeEmail(details.email);
  return checkFacts({ email, dateOfBirth, jurisdiction, verificationLevel }, now) ?? { ...details, email };
}

/** Account details, some of them absent, and the end of a self-exclusion. */
type AccountFacts = { readonly [Field in keyof AccountDetails]?: AccountDetails[Field] | undefined } & {
  readonly selfExcludedUntil?: Date | undefined;
};

/**
 * The first validation issue of the details that are present, or null. The e-mail address is in
 * lower case.
 */
export function checkFacts(facts: AccountFacts, now: Date): Refused | null {
  const { email, dateOfBirth, jurisdiction, verificationLevel, selfExcludedUntil } = facts;
  if (email !== undefined && (!EMAIL.test(email) || !isStorable(email, MAX_EMAIL_CHARACTERS))) {
    return refused('invalid_request', 'The e-mail address is not valid.');
  }
  if (dateOfBirth !== undefined && !isPastDate(dateOfBirth, now)) {
    return refused('invalid_request', 'The date of birth is not a past date.');
  }
  if (selfExcludedUntil !== undefined && !isInBounds(selfExcludedUntil)) {
    return refused('invalid_request', `The end of a self-exclusion must lie ${INSTANT_BOUNDS}.`);
  }
  return (
    (jurisdiction === undefined ? null : checkJurisdiction(jurisdiction)) ??
    (verificationLevel === undefined ? null : checkVerificationLevel(verificationLevel))
  );
}

function checkJurisdiction(jurisdiction: string): Refused | null {
  return JURISDICTION.test(jurisdiction)
    ? null
    : refused('invalid_request', 'The jurisdiction is not a code such as US-CA.');
}

function checkVerificationLevel(level: number): Refused | null {
  return Number.isInteger(level) && level >= 0 && level <= 3
    ? null
    : refused('invalid_request', 'The verification level is not 0, 1, 2 or 3.');
}

function isPastDate(text: string, now: Date): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const date = new Date(`${text}T00:00:00.000Z`);
  // A day that does not exist, such as 30 February, fails to parse or is parsed as another day.
  if (Number.isNaN(date.getTime()) || date.toISOString().slice(0, 10) !== text) return false;
  return isInBounds(date) && !isBefore(now, date);
}
