/**
 * Audit: checks every invariant of this service, and compares its money with the wallet's
 * (money-audit.ts).
 */

import { auditMoney, type Wallet } from '@laurel/attempts';
import type { Handlers } from '@laurel/grpc';
import type { CheckResult, Database } from '@laurel/postgres';
import type { TournamentServiceService } from '@laurel/proto/tournament';
import { judgeFee, judgePayout, MONEY_CHECKS } from '../domain/money-audit.ts';
import {
  ENVIRONMENTS,
  pageOfAttempts,
  pageOfPayouts,
  rereadAttempts,
  rereadPayouts,
  runOwnChecks,
} from '../repository/audit.ts';

/** Returns a result for every check; ends early when the signal aborts. */
export type RunAudit = (signal?: AbortSignal) => Promise<CheckResult[]>;

export function createAudit(deps: { database: Database; wallet: Wallet }): RunAudit {
  const money = {
    ...deps,
    owner: 'tournament' as const,
    environments: ENVIRONMENTS,
    attempts: { page: pageOfAttempts, reread: rereadAttempts },
    awards: { page: pageOfPayouts, reread: rereadPayouts },
    judgeFee,
    judgePayout,
    checks: MONEY_CHECKS,
  };
  return async (signal) => [...(await runOwnChecks(deps.database, signal)), ...(await auditMoney(money, signal))];
}

export function audit(run: RunAudit): Handlers<TournamentServiceService>['audit'] {
  return async (_request, { signal }) => ({ checks: await run(signal) });
}
