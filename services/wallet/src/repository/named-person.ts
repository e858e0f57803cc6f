/** SQL for the person that a ref names, with the facts that decide eligibility. */
import type { EligibilityFacts } from '../domain/eligibility.ts';

export type NamedPerson = { readonly accountId: string; readonly eligibility: EligibilityFacts };

export type NamedPersonRow = {
  account_id: string;
  date_of_birth: string;
  jurisdiction: string;
  verification_level: number;
  self_excluded_until: Date | null;
  blocked: boolean;
  insider: boolean;
};

export function toNamedPerson(row: NamedPersonRow): NamedPerson {
  return {
    accountId: row.account_id,
    eligibility: {
      dateOfBirth: row.date_of_birth,
      jurisdiction: row.jurisdiction,
      verificationLevel: row.verification_level,
      selfExcludedUntil: row.self_excluded_until,
      blocked: row.blocked,
      insider: row.insider,
    },
  };
}
