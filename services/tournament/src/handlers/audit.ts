/** Audit: every invariant of this service, and, in comparison with the wallet, of its money there (money-audit.ts). */

import { auditMoney, type Wallet } from '@laurel/attempt-lifecycle';
import type { Handlers } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import type { TournamentServiceService } from '@laurel/proto/tournament';
import { judgeFee, judgePayout, MONEY_CHECKS } from '../domain/money-audit.ts';
import { attemptsAgain, pageOfAttempts, pageOfPayouts, payoutsAgain, runOwnChecks } from '../repository/audit.ts';

export function audit(deps: { database: Database; wallet: Wallet }): Handlers<TournamentServiceService>['audit'] {
  return async () => ({
    checks: await auditMoney({
      ...deps,
      owner: 'tournament',
      runOwnChecks,
      attempts: { page: pageOfAttempts, again: attemptsAgain },
      awards: { page: pageOfPayouts, again: payoutsAgain },
      judgeFee,
      judgePayout,
      checks: MONEY_CHECKS,
    }),
  });
}
