import { type OwningServices, serviceOf } from '@laurel/attempts/client';
import { isRefused, refused } from '@laurel/errors';
import { PAYOUT_STATUSES } from '@laurel/proto/enum-names';
import { PayoutStatus } from '@laurel/proto/wallet';
import { MAX_PAGE_ROWS } from '@laurel/values/limits';
import type { WalletClient } from '../../clients/wallet.ts';
import { checkDecision } from '../../domain/payout-decision.ts';
import { z } from '../../http/zod.ts';
import { presentDescribedPayout, presentPayout } from '../../presenters/payout.ts';
import { component } from '../component.ts';
import { environment, environmentName, id, nextCursor, page, pathId, reason } from '../fields.ts';
import { defined } from '../run-route.ts';
import { amount, timestamp, uuid } from '../v1/fields.ts';
import { accountSchema } from './accounts.ts';
import { defineOperatorRoute } from './route.ts';

const status = component('PayoutStatus', z.enum(['paid', 'held', 'denied']));

const decisionSchema = component(
  'PayoutDecision',
  z.object({
    decision: z.enum(['released', 'denied']),
    at: timestamp,
    operator: z.string().openapi({ description: 'The name of the operator who decided.', example: 'ana' }),
    reason: z.string().nullable(),
  }),
);

export const payoutSchema = component(
  'Payout',
  z.object({
    award_id: uuid,
    attempt_id: uuid
      .nullable()
      .openapi({ description: 'The attempt, if the payout is an award. Exactly one of this and `round_id` is set.' }),
    round_id: uuid.nullable().openapi({ description: 'The round, if the payout is for a rank in its purse.' }),
    program_id: uuid,
    environment: environmentName,
    account_id: uuid,
    amount,
    status,
    reason: z.string().nullable().openapi({ description: 'Why the payout was held. It stays after a decision.' }),
    created_at: timestamp,
    paid_at: timestamp.nullable(),
    decision: decisionSchema.nullable().openapi({
      description:
        'Null while the payout is held, if it never was, and if an operator decided it under software version 0.2.0 or older.',
    }),
  }),
);

export const listPayouts = defineOperatorRoute({
  method: 'get',
  path: '/payouts',
  name: 'listPayouts',
  summary: 'List the payouts of every program',
  description:
    'The list has the payouts of test and live. With `account_id`, `program_id` or `environment` a page reads at most 5,000 payouts, so it may be short, or empty, although `next_cursor` is not null.',
  query: z.object({
    status: status.optional().openapi({ description: 'If absent, payouts of every status.' }),
    account_id: id.optional().openapi({ description: 'Only payouts to this account.' }),
    program_id: id.optional().openapi({ description: 'Only payouts of this program.' }),
    environment: environment.optional().openapi({ description: 'Only payouts of this environment.' }),
    ...page,
  }),
  success: {
    status: 200,
    description: 'Newest first.',
    schema: component('PayoutList', z.object({ data: z.array(payoutSchema), next_cursor: nextCursor })),
  },
  run: async ({ query, options }, { wallet }: { wallet: WalletClient }) => {
    const listed = await wallet.listPayouts(
      {
        status: query.status === undefined ? PayoutStatus.UNSPECIFIED : PAYOUT_STATUSES[query.status],
        limit: query.limit ?? MAX_PAGE_ROWS,
        cursor: query.cursor ?? '',
        accountId: query.account_id,
        programId: query.program_id,
        environment: query.environment,
      },
      options,
    );
    if (isRefused(listed)) return listed;
    return { body: { data: listed.payouts.map(presentPayout), next_cursor: listed.nextCursor || null } };
  },
});

const payoutAccount = component(
  'PayoutAccount',
  accountSchema.pick({
    id: true,
    email: true,
    enforcement_flag: true,
    under_investigation: true,
    blocked: true,
    verification_level: true,
    self_excluded_until: true,
    sandbox_only: true,
  }),
);

const describedPayout = component(
  'DescribedPayout',
  payoutSchema.extend({
    account: payoutAccount.openapi({ description: 'The account as it is now.' }),
    paid_24h: z
      .object({
        account: component(
          'AccountPayouts',
          z.object({
            count: z.int(),
            amount,
            count_limit: z.int().openapi({ description: 'An award beyond this number is held.' }),
            amount_limit: amount.openapi({ description: 'An award that takes `amount` over this is held.' }),
          }),
        ),
        program: component(
          'ProgramPayouts',
          z.object({
            amount,
            amount_limit: amount.nullable().openapi({ description: 'Null: the program has no limit there.' }),
          }),
        ),
      })
      .openapi({
        description:
          'What was paid in the last 24 hours in the environment of the payout: to the account, by every program; and by the program, to every account.',
      }),
  }),
);

export const getPayout = defineOperatorRoute({
  method: 'get',
  path: '/payouts/{awardId}',
  name: 'getPayout',
  summary: 'Read a payout with what a decision on it needs',
  params: z.object({ awardId: pathId }),
  success: {
    status: 200,
    description: 'The payout, its account, and the payouts of 24 hours.',
    schema: describedPayout,
  },
  run: async ({ params: { awardId }, options }, { wallet }: { wallet: WalletClient }) => {
    const found = await wallet.describePayout({ awardId }, options);
    return isRefused(found) ? found : { body: presentDescribedPayout(found) };
  },
});

const decisionReason = component('PayoutDecisionReason', z.object({ reason: reason.optional() }));

export const releasePayout = decidePayout('release', {
  summary: 'Pay a held payout',
  description:
    'The money has moved to the player when the response arrives. The partner gets `award.released`. The decision is final. If the same operator repeats it, nothing changes; any later decision is a `conflict`.',
  success: 'The payout, paid.',
});

export const denyPayout = decidePayout('deny', {
  summary: 'Deny a held payout',
  description:
    'No money moves. The partner still sees the payout as `held`. The decision is final. If the same operator repeats it, nothing changes; any later decision is a `conflict`.',
  success: 'The payout, denied.',
});

/**
 * The contest service of the award decides and moves the money, so that its award and the wallet's
 * payout cannot diverge. The response is the wallet's payout, which also shows who decided.
 */
function decidePayout(
  verb: 'release' | 'deny',
  texts: {
    readonly summary: string;
    readonly description: string;
    readonly success: string;
  },
) {
  return defineOperatorRoute({
    method: 'post',
    path: `/payouts/{awardId}/${verb}`,
    name: `${verb}Payout`,
    summary: texts.summary,
    description: texts.description,
    params: z.object({ awardId: pathId }),
    body: decisionReason,
    isBodyOptional: true,
    success: { status: 200, description: texts.success, schema: payoutSchema },
    refusals: { conflict: 'The payout was decided before, or paid without a hold. The message names the decision.' },
    action: `${verb}_payout`,
    run: async (
      { params: { awardId }, caller: operator, body, options },
      { wallet, ...services }: OwningServices & { wallet: WalletClient },
    ) => {
      const service = serviceOf(services, awardId);
      if (service === null) return refused('not_found');
      const review = { awardId, operator, reason: body.reason };
      const decided =
        verb === 'release' ? await service.releaseAward(review, options) : await service.denyAward(review, options);
      // On a conflict, the wallet's payout shows the earlier decision.
      if (isRefused(decided) && decided.code !== 'conflict') return decided;
      const found = await wallet.getPayout({ awardId }, options);
      if (isRefused(found)) return found;
      const payout = presentPayout(defined(found.payout));
      const decision = verb === 'release' ? 'released' : 'denied';
      return checkDecision(payout, { decision, operator, reason: body.reason ?? null }) ?? { body: payout };
    },
  });
}
