import type { Account } from '@laurel/proto/wallet';

/** An account as `/api/operator` shows it: the one place where an e-mail leaves the system. */
export function presentAccount(account: Account) {
  return {
    id: account.id,
    email: account.email,
    date_of_birth: account.dateOfBirth,
    jurisdiction: account.jurisdiction,
    verification_level: account.verificationLevel,
    self_excluded_until: account.selfExcludedUntil?.toISOString() ?? null,
    enforcement_flag: account.enforcementFlag,
    under_investigation: account.underInvestigation,
    blocked: account.blocked,
    sandbox_only: account.sandboxOnly,
    created_at: account.createdAt?.toISOString() ?? null,
  };
}
