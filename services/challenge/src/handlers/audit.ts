/**
 * Audit: checks every invariant of this service, and compares its money with the wallet's
 * (money-audit.ts). The rpc reads all rows at once; the continuous audit reads them in slices.
 */

import { type AuditedMoney, auditMoney, moneyWalks, type Wallet } from '@laurel/attempts';
import type { Handlers } from '@laurel/grpc';
import {
  type CheckResult,
  createSlicedAudit,
  type Database,
  type SlicedAudit,
  type SliceLimits,
} from '@laurel/postgres';
import type { ChallengeServiceService } from '@laurel/proto/challenge';
import {
  type AuditedAttempt,
  type AuditedAward,
  judgeFee,
  judgePayout,
  MONEY_CHECKS,
  type MoneyCheck,
} from '../domain/money-audit.ts';
import type { TierCeilings } from '../domain/tier-ceiling.ts';
import {
  ENVIRONMENTS,
  ownChecks,
  pageOfAttempts,
  pageOfAwards,
  rereadAttempts,
  rereadAwards,
  runOwnChecks,
} from '../repository/audit.ts';
import { START_SUMS, WALKS } from '../repository/audit-walks.ts';

/** Returns the result of every check. Ends early if the signal is aborted. */
export type RunAudit = (signal?: AbortSignal) => Promise<CheckResult[]>;

interface AuditDeps {
  readonly database: Database;
  readonly wallet: Wallet;
  readonly ceilings: TierCeilings;
}

/** Creates the audit of all rows. */
export function createAudit({ ceilings, ...deps }: AuditDeps): RunAudit {
  return async (signal) => [
    ...(await runOwnChecks(deps.database, ceilings, signal)),
    ...(await auditMoney(moneyOf(deps), signal)),
  ];
}

/** Creates the audit that runs the same checks in slices. */
export function createContinuousAudit({ ceilings, ...deps }: AuditDeps, limits: SliceLimits = {}): SlicedAudit {
  return createSlicedAudit({
    database: deps.database,
    checks: ownChecks(ceilings),
    walks: WALKS,
    comparedChecks: MONEY_CHECKS,
    comparedWalks: moneyWalks(moneyOf(deps)),
    environments: ENVIRONMENTS,
    startSums: START_SUMS,
    ...limits,
  });
}

function moneyOf(deps: Pick<AuditDeps, 'database' | 'wallet'>): AuditedMoney<AuditedAttempt, AuditedAward, MoneyCheck> {
  return {
    ...deps,
    contestService: 'challenge',
    environments: ENVIRONMENTS,
    attempts: { page: pageOfAttempts, reread: rereadAttempts },
    awards: { page: pageOfAwards, reread: rereadAwards },
    judgeFee,
    judgePayout,
    checks: MONEY_CHECKS,
  };
}

export function audit(run: RunAudit): Handlers<ChallengeServiceService>['audit'] {
  return async (_request, { signal }) => ({ checks: await run(signal) });
}
