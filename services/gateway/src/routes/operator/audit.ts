import type { OwningServices } from '@laurel/attempts/client';
import { isRefused } from '@laurel/errors';
import { MAX_DEADLINE_MS } from '@laurel/grpc';
import type { CheckResult, Database } from '@laurel/postgres';
import type { WalletClient } from '../../clients/wallet.ts';
import { z } from '../../http/zod.ts';
import { auditGateway } from '../../repository/audit.ts';
import { component } from '../component.ts';
import { defineOperatorRoute } from './route.ts';

const auditCheck = component(
  'AuditCheck',
  z.object({
    id: z.string(),
    description: z.string(),
    violations: z.int().openapi({ description: 'Rows of either environment that break the rule.' }),
    violations_by_environment: z.object({ live: z.int(), test: z.int() }).openapi({
      description: 'The violations of real money and of play money. Only those of real money raise a critical alert.',
    }),
    examples: z
      .array(z.string())
      .optional()
      .openapi({ description: 'Ids of rows that break the rule, those of live first.' }),
  }),
);

const auditSchema = component(
  'AuditReport',
  z.object({
    ok: z.boolean().openapi({ description: 'No check has a violation.' }),
    live_ok: z.boolean().openapi({ description: 'No check has a violation of real money.' }),
    checks: z.array(auditCheck),
  }),
);

export const audit = defineOperatorRoute({
  method: 'get',
  path: '/audit',
  name: 'runAudit',
  summary: 'Check every money rule now',
  description:
    'The check reads every attempt and every transfer of the platform, which may take up to two minutes. It changes nothing.',
  success: { status: 200, description: 'Every check, with the rows that break it.', schema: auditSchema },
  run: async (
    { options },
    { wallet, challenge, tournament, database }: OwningServices & { wallet: WalletClient; database: Database },
  ) => {
    // An audit reads every attempt and transfer: it takes longer than any other call.
    const auditOptions = { ...options, deadlineMs: MAX_DEADLINE_MS };
    const [ofWallet, ofChallenge, ofTournament, ofGateway] = await Promise.all([
      wallet.audit({}, auditOptions),
      challenge.audit({}, auditOptions),
      tournament.audit({}, auditOptions),
      auditGateway(database),
    ]);
    if (isRefused(ofWallet)) return ofWallet;
    if (isRefused(ofChallenge)) return ofChallenge;
    if (isRefused(ofTournament)) return ofTournament;
    const checks = [...ofWallet.checks, ...ofChallenge.checks, ...ofTournament.checks, ...ofGateway];
    return {
      body: {
        ok: checks.every((check) => check.violations === 0n),
        live_ok: checks.every((check) => check.violations === check.testViolations),
        checks: checks.map(presentCheck),
      },
    };
  },
});

function presentCheck(check: CheckResult) {
  return {
    id: check.id,
    description: check.description,
    violations: Number(check.violations),
    violations_by_environment: {
      live: Number(check.violations - check.testViolations),
      test: Number(check.testViolations),
    },
    ...(check.examples.length > 0 && { examples: check.examples }),
  };
}
