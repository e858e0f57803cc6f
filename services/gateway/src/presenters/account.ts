import { ENVIRONMENTS, nameOf } from '@laurel/proto/enum-names';
import type { Account, ListPlayerLinksResponse, ProgramCharges } from '@laurel/proto/wallet';
import { formatAmount } from '@laurel/values/money';

/** An account as `/api/operator` shows it: the only place where an e-mail leaves the system. */
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
    fee_limit: account.feeLimitCents === undefined ? null : formatAmount(account.feeLimitCents),
    sandbox_only: account.sandboxOnly,
    program_id: account.programId ?? null,
    created_at: account.createdAt?.toISOString() ?? null,
  };
}

/** What programs charged an account in the last 24 hours and did not refund. */
export function presentCharges(charges: readonly ProgramCharges[]) {
  return charges.map(({ tenant, chargedCents }) => {
    if (tenant === undefined) throw new Error('the wallet sent charges without a program');
    return {
      program_id: tenant.programId,
      environment: nameOf(ENVIRONMENTS, tenant.environment),
      amount: formatAmount(chargedCents),
    };
  });
}

/** The refs that name an account, and the programs that may not link it. */
export function presentPlayerLinks({ links, severances }: ListPlayerLinksResponse) {
  return {
    data: links.map(({ player, createdAt }) => {
      if (player?.tenant === undefined) throw new Error('the wallet sent a link without a player');
      const { programId, environment } = player.tenant;
      return {
        program_id: programId,
        environment: nameOf(ENVIRONMENTS, environment),
        player_ref: player.playerRef,
        created_at: createdAt?.toISOString(),
      };
    }),
    severed: severances.map(({ programId, severedAt }) => ({
      program_id: programId,
      severed_at: severedAt?.toISOString(),
    })),
  };
}
