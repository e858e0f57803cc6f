/** Audit: every invariant of this service, and, in comparison with the wallet, of its money there (money-audit.ts). */

import { auditMoney, type Wallet } from '@laurel/attempts';
import type { Handlers } from '@laurel/grpc';
import type { CheckResult, Database } from '@laurel/postgres';
import type { TournamentServiceService } from '@laurel/proto/tournament';
import { judgeFee, judgePayout, MONEY_CHECKS } from '../domain/money-audit.ts';
import {
  attemptsAgain,
  ENVIRONMENTS,
  pageOfAttempts,
  pageOfPayouts,
  payoutsAgain,
  runOwnChecks,
} from '../repository/audit.ts';

/** Answers every check; ends early where the signal is aborted. */
export type RunAudit = (signal?: AbortSignal) => Promise<CheckResult[]>;

export function createAudit(deps: { database: Database; wallet: Wallet }): RunAudit {
  return (signal) =>
    auditMoney({
      ...deps,
      owner: 'tournament',
      runOwnChecks: (database) => runOwnChecks(database, signal),
      environments: ENVIRONMENTS,
      attempts: { page: pageOfAttempts, again: attemptsAgain },
      awards: { page: pageOfPayouts, again: payoutsAgain },
      judgeFee,
      judgePayout,
      checks: MONEY_CHECKS,
      signal,
    });
}

export function audit(run: RunAudit): Handlers<TournamentServiceService>['audit'] {
  return async () => ({ checks: await run() });
}
