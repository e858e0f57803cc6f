import { type OwningServices, serviceOf } from '@laurel/attempts/client';
import { isRefused, refused } from '@laurel/errors';
import { PAYOUT_STATUSES } from '@laurel/proto/enum-names';
import { PayoutStatus } from '@laurel/proto/wallet';
import type { WalletClient } from '../../clients/wallet.ts';
import { z } from '../../http/zod.ts';
import { presentPayout } from '../../presenters/payout.ts';
import { component } from '../component.ts';
import { environmentName, nextCursor, PAGE_LIMIT, page, pathId } from '../fields.ts';
import { present } from '../run-route.ts';
import { amount, timestamp, uuid } from '../v1/fields.ts';
import { defineOperatorRoute } from './route.ts';

const status = component('PayoutStatus', z.enum(['paid', 'held', 'denied']));

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
    reason: z.string().nullable().openapi({ description: 'Why the payout was held.' }),
    created_at: timestamp,
    paid_at: timestamp.nullable(),
  }),
);

export const listPayouts = defineOperatorRoute({
  method: 'get',
  path: '/payouts',
  name: 'listPayouts',
  summary: 'List the payouts of every program',
  description: 'The list has the payouts of test and live.',
  query: z.object({
    status: status.optional().openapi({ description: 'If absent, payouts of every status.' }),
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
        limit: query.limit ?? PAGE_LIMIT,
        cursor: query.cursor ?? '',
      },
      options,
    );
    if (isRefused(listed)) return listed;
    return { body: { data: listed.payouts.map(presentPayout), next_cursor: listed.nextCursor || null } };
  },
});

export const releasePayout = decidePayout('release', {
  summary: 'Pay a held payout',
  description:
    'The money has moved to the player when the response arrives. The partner gets `award.released`. A repeated call changes nothing.',
  success: 'The payout, paid.',
  conflict: 'The payout was denied.',
});

export const denyPayout = decidePayout('deny', {
  summary: 'Deny a held payout',
  description:
    'No money moves. The decision is final. The partner still sees the payout as `held`. A repeated call changes nothing.',
  success: 'The payout, denied.',
  conflict: 'The payout is paid.',
});

/**
 * The contest service of the award decides and moves the money, so that its award and the wallet's
 * payout cannot diverge. The response is the wallet's payout.
 */
function decidePayout(
  verb: 'release' | 'deny',
  texts: {
    readonly summary: string;
    readonly description: string;
    readonly success: string;
    readonly conflict: string;
  },
) {
  return defineOperatorRoute({
    method: 'post',
    path: `/payouts/{awardId}/${verb}`,
    name: `${verb}Payout`,
    summary: texts.summary,
    description: texts.description,
    params: z.object({ awardId: pathId }),
    success: { status: 200, description: texts.success, schema: payoutSchema },
    refusals: { conflict: texts.conflict },
    action: `${verb}_payout`,
    run: async (
      { params: { awardId }, options },
      { wallet, ...services }: OwningServices & { wallet: WalletClient },
    ) => {
      const service = serviceOf(services, awardId);
      if (service === null) return refused('not_found');
      const decided =
        verb === 'release'
          ? await service.releaseAward({ awardId }, options)
          : await service.denyAward({ awardId }, options);
      if (isRefused(decided)) return decided;
      const found = await wallet.getPayout({ awardId }, options);
      return isRefused(found) ? found : { body: presentPayout(present(found.payout)) };
    },
  });
}
