import { isRefused } from '@laurel/errors';
import type { CheckResult } from '@laurel/postgres';
import type { Router } from 'express';
import type { Dependencies } from '../../dependencies.ts';
import { auditGateway } from '../../repository/audit.ts';
import { callOptions, route } from '../api-route.ts';

/** An audit reads every attempt and transfer there is: it takes longer than any other call. */
const AUDIT_DEADLINE_MS = 120_000;

export function auditRoutes(router: Router, deps: Dependencies): void {
  router.get(
    '/audit',
    route(async (request) => {
      const options = { ...callOptions(request), deadlineMs: AUDIT_DEADLINE_MS };
      const [wallet, challenge, tournament, gateway] = await Promise.all([
        deps.wallet.audit({}, options),
        deps.challenge.audit({}, options),
        deps.tournament.audit({}, options),
        auditGateway(deps.database),
      ]);
      if (isRefused(wallet)) return wallet;
      if (isRefused(challenge)) return challenge;
      if (isRefused(tournament)) return tournament;
      const checks = [...wallet.checks, ...challenge.checks, ...tournament.checks, ...gateway];
      return {
        status: 200,
        body: { ok: checks.every((check) => check.violations === 0n), checks: checks.map(presentCheck) },
      };
    }),
  );
}

function presentCheck(check: CheckResult) {
  return {
    id: check.id,
    description: check.description,
    violations: Number(check.violations),
    ...(check.examples.length > 0 && { examples: check.examples }),
  };
}
