/**
 * Audit: checks every invariant of this service, and compares its money with the wallet's
 * (money-audit.ts).
 */

import { auditMoney, type Wallet } from '@laurel/attempts';
import type { Handlers } from '@laurel/grpc';
import type { CheckResult, Database } from '@laurel/postgres';
import type { ChallengeServiceService } from '@laurel/proto/challenge';
import { judgeFee, judgePayout, MONEY_CHECKS } from '../domain/money-audit.ts';
import type { TierCeilings } from '../domain/tier-ceiling.ts';
import {
  ENVIRONMENTS,
  pageOfAttempts,
  pageOfAwards,
  rereadAttempts,
  rereadAwards,
  runOwnChecks,
} from '../repository/audit.ts';

/** Returns the result of every check. Ends early if the signal is aborted. */
export type RunAudit = (signal?: AbortSignal) => Promise<CheckResult[]>;

export function createAudit({
  ceilings,
  ...deps
}: {
  database: Database;
  wallet: Wallet;
  ceilings: TierCeilings;
}): RunAudit {
  return (signal) =>
    auditMoney({
      ...deps,
      owner: 'challenge',
      runOwnChecks: (database) => runOwnChecks(database, ceilings, signal),
      environments: ENVIRONMENTS,
      attempts: { page: pageOfAttempts, reread: rereadAttempts },
      awards: { page: pageOfAwards, reread: rereadAwards },
      judgeFee,
      judgePayout,
      checks: MONEY_CHECKS,
      signal,
    });
}

export function audit(run: RunAudit): Handlers<ChallengeServiceService>['audit'] {
  return async (_request, { signal }) => ({ checks: await run(signal) });
}
