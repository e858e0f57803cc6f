/** Audit: every invariant of this service, and, in comparison with the wallet, of its money there (money-audit.ts). */

import { auditMoney, type Wallet } from '@laurel/attempt-lifecycle';
import type { Handlers } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import type { ChallengeServiceService } from '@laurel/proto/challenge';
import { judgeFee, judgePayout, MONEY_CHECKS } from '../domain/money-audit.ts';
import type { TierCeilings } from '../domain/tier-ceiling.ts';
import { attemptsAgain, awardsAgain, pageOfAttempts, pageOfAwards, runOwnChecks } from '../repository/audit.ts';

export function audit({
  ceilings,
  ...deps
}: {
  database: Database;
  wallet: Wallet;
  ceilings: TierCeilings;
}): Handlers<ChallengeServiceService>['audit'] {
  return async () => ({
    checks: await auditMoney({
      ...deps,
      owner: 'challenge',
      runOwnChecks: (database) => runOwnChecks(database, ceilings),
      attempts: { page: pageOfAttempts, again: attemptsAgain },
      awards: { page: pageOfAwards, again: awardsAgain },
      judgeFee,
      judgePayout,
      checks: MONEY_CHECKS,
    }),
  });
}
