import { isRefused } from '@laurel/errors';
import type { Database } from '@laurel/postgres';
import type { WalletClient } from '../../clients/wallet.ts';
import { z } from '../../http/zod.ts';
import { presentProgramLimits } from '../../presenters/program-limits.ts';
import { findProgram } from '../../repository/programs.ts';
import { component } from '../component.ts';
import { amount, CHANGE_BODY, environment, environmentName, pathId } from '../fields.ts';
import { defined } from '../run-route.ts';
import { amount as amountText, uuid } from '../v1/fields.ts';
import { defineOperatorRoute } from './route.ts';

const limitsSchema = component(
  'ProgramLimits',
  z.object({
    program_id: uuid,
    environment: environmentName,
    payout_limit: amountText.nullable().openapi({
      description: 'The limit of all payouts in 24 hours. An award that would exceed it is held. Null: no limit.',
    }),
    fee_limit: amountText.nullable().openapi({
      description:
        'The limit of the fees of one account in 24 hours. A fee that would exceed it is `blocked`. Null: no limit.',
    }),
    paid: amountText.openapi({ description: 'Payouts of the program to all accounts in the last 24 hours.' }),
  }),
);

const limitsChange = component(
  'ProgramLimitsChange',
  z
    .strictObject({
      environment,
      payout_limit: amount.nullable().optional().openapi({ description: 'Null returns to the default.' }),
      fee_limit: amount.nullable().optional().openapi({ description: 'Null returns to the default.' }),
    })
    .refine((body) => Object.keys(body).length > 1, 'must change something'),
  CHANGE_BODY,
);

const params = z.object({ programId: pathId });

interface Limits {
  readonly database: Database;
  readonly wallet: WalletClient;
}

export const getProgramLimits = defineOperatorRoute({
  method: 'get',
  path: '/programs/{programId}/limits',
  name: 'getProgramLimits',
  summary: 'Read the limits of a program: what it may pay out and charge in 24 hours',
  params,
  success: {
    status: 200,
    description: 'The limits in test, then those in live.',
    schema: component('ProgramLimitsList', z.object({ data: z.array(limitsSchema) })),
  },
  run: async ({ params: { programId }, options }, { database, wallet }: Limits) => {
    const program = await findProgram(database, programId);
    if (isRefused(program)) return program;
    const found = await wallet.getProgramLimits({ programId: program.id }, options);
    return isRefused(found) ? found : { body: { data: found.limits.map(presentProgramLimits) } };
  },
});

export const changeProgramLimits = defineOperatorRoute({
  method: 'patch',
  path: '/programs/{programId}/limits',
  name: 'changeProgramLimits',
  summary: 'Change the limits of a program: what it may pay out and charge in 24 hours',
  description:
    'If no operator has set a limit, live has the defaults of the deployment and test has no limit. Awards that are held stay held.',
  params,
  body: limitsChange,
  success: { status: 200, description: 'The limits that are now in force.', schema: limitsSchema },
  action: 'change_program_limits',
  recording: {
    reads: async ({ subjectId, body, options }, { wallet }: Limits) => {
      if (subjectId === null || body === undefined) return null;
      const found = await wallet.getProgramLimits({ programId: subjectId }, options);
      if (isRefused(found)) return null;
      const limits = found.limits.find(({ tenant }) => tenant?.environment === body.environment);
      return limits === undefined ? null : presentProgramLimits(limits);
    },
  },
  run: async ({ params: { programId }, body, options }, { database, wallet }: Limits) => {
    const program = await findProgram(database, programId);
    if (isRefused(program)) return program;
    const changed = await wallet.setProgramLimits(
      {
        tenant: { programId: program.id, environment: body.environment },
        payoutLimitCents: body.payout_limit ?? undefined,
        clearPayoutLimit: body.payout_limit === null,
        feeLimitCents: body.fee_limit ?? undefined,
        clearFeeLimit: body.fee_limit === null,
      },
      options,
    );
    if (isRefused(changed)) return changed;
    const limits = presentProgramLimits(defined(changed.limits));
    return { body: limits, logged: { limits } };
  },
});
