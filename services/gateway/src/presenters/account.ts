import { ENVIRONMENTS, nameOf } from '@laurel/proto/enum-names';
import type { Account, ListPlayerLinksResponse } from '@laurel/proto/wallet';

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
    program_id: account.programId ?? null,
    created_at: account.createdAt?.toISOString() ?? null,
  };
}

/** The refs that name an account, and the programs that may not link it. */
export function presentPlayerLinks({ links, severances }: ListPlayerLinksResponse) {
  return {
    data: links.map(({ player, createdAt }) => {
      if (player?.tenant === undefined) throw new Error('a link names no player');
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
