/**
 * Audit: checks every invariant of this service, and compares its money with the wallet's
 * (money-audit.ts). The rpc reads everything; the continuous audit reads in slices.
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
import type { TournamentServiceService } from '@laurel/proto/tournament';
import { judgeFee, judgePayout, MONEY_CHECKS, type MoneyCheck } from '../domain/money-audit.ts';
import {
  type AuditedAttemptRow,
  type AuditedPayoutRow,
  CHECKS,
  ENVIRONMENTS,
  pageOfAttempts,
  pageOfPayouts,
  rereadAttempts,
  rereadPayouts,
  runOwnChecks,
} from '../repository/audit.ts';
import { START_SUMS, WALKS } from '../repository/audit-walks.ts';

/** Returns a result for every check; ends early when the signal aborts. */
export type RunAudit = (signal?: AbortSignal) => Promise<CheckResult[]>;

interface AuditDeps {
  readonly database: Database;
  readonly wallet: Wallet;
}

/** The audit of all rows at once. */
export function createAudit(deps: AuditDeps): RunAudit {
  return async (signal) => [
    ...(await runOwnChecks(deps.database, signal)),
    ...(await auditMoney(moneyOf(deps), signal)),
  ];
}

/** The same checks in slices. */
export function createContinuousAudit(deps: AuditDeps, limits: SliceLimits = {}): SlicedAudit {
  return createSlicedAudit({
    database: deps.database,
    checks: CHECKS,
    walks: WALKS,
    comparedChecks: MONEY_CHECKS,
    comparedWalks: moneyWalks(moneyOf(deps)),
    environments: ENVIRONMENTS,
    startSums: START_SUMS,
    ...limits,
  });
}

function moneyOf({ database, wallet }: AuditDeps): AuditedMoney<AuditedAttemptRow, AuditedPayoutRow, MoneyCheck> {
  return {
    database,
    wallet,
    contestService: 'tournament',
    environments: ENVIRONMENTS,
    attempts: { page: pageOfAttempts, reread: rereadAttempts },
    awards: { page: pageOfPayouts, reread: rereadPayouts },
    judgeFee,
    judgePayout,
    checks: MONEY_CHECKS,
  };
}

export function audit(run: RunAudit): Handlers<TournamentServiceService>['audit'] {
  return async (_request, { signal }) => ({ checks: await run(signal) });
}
