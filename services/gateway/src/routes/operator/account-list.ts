/** The accounts that match what an operator knows of them. */
import { isRefused } from '@laurel/errors';
import { ACCOUNT_FLAGS } from '@laurel/proto/enum-names';
import { AccountFlag } from '@laurel/proto/wallet';
import { MAX_PAGE_ROWS } from '@laurel/values/limits';
import type { WalletClient } from '../../clients/wallet.ts';
import { z } from '../../http/zod.ts';
import { presentAccount } from '../../presenters/account.ts';
import { component } from '../component.ts';
import { email, environment, id, nextCursor, page } from '../fields.ts';
import { playerRef } from '../v1/fields.ts';
import { accountSchema } from './accounts.ts';
import { defineOperatorRoute } from './route.ts';

const flag = component('AccountFlag', z.enum(['enforcement_flag', 'under_investigation', 'blocked', 'self_excluded']));

const accountQuery = z
  .object({
    email: email.optional().openapi({
      description: 'Only accounts with this e-mail: at most one of a person, and one of each sandbox.',
    }),
    player_ref: playerRef.optional().openapi({
      description: 'Only the account to which this player of `program_id` is linked in `environment`.',
    }),
    program_id: id.optional().openapi({ description: 'Needed with `player_ref`.' }),
    environment: environment.optional().openapi({ description: 'Needed with `player_ref`.' }),
    flag: flag
      .optional()
      .openapi({ description: 'Only accounts with this flag; `self_excluded`: until later than now.' }),
    sandbox_of: id.optional().openapi({ description: 'Only sandbox accounts of this program.' }),
    ...page,
  })
  .refine(
    (query) => {
      const given = [query.player_ref, query.program_id, query.environment].filter((value) => value !== undefined);
      return given.length === 0 || given.length === 3;
    },
    { message: 'must have `player_ref`, `program_id` and `environment` together' },
  );

export const listAccounts = defineOperatorRoute({
  method: 'get',
  path: '/accounts',
  name: 'listAccounts',
  summary: 'Find accounts',
  description: 'Every filter that is present must hold. The accounts of people and of sandboxes are in one list.',
  query: accountQuery,
  success: {
    status: 200,
    description: 'Newest first.',
    schema: component('AccountList', z.object({ data: z.array(accountSchema), next_cursor: nextCursor })),
  },
  run: async ({ query, options }, { wallet }: { readonly wallet: WalletClient }) => {
    const { player_ref: ref, program_id: programId, environment: inEnvironment } = query;
    const isOfPlayer = ref !== undefined && programId !== undefined && inEnvironment !== undefined;
    const listed = await wallet.listAccounts(
      {
        email: query.email ?? '',
        player: isOfPlayer ? { tenant: { programId, environment: inEnvironment }, playerRef: ref } : undefined,
        flag: query.flag === undefined ? AccountFlag.UNSPECIFIED : ACCOUNT_FLAGS[query.flag],
        sandboxOf: query.sandbox_of ?? '',
        limit: query.limit ?? MAX_PAGE_ROWS,
        cursor: query.cursor ?? '',
      },
      options,
    );
    if (isRefused(listed)) return listed;
    return { body: { data: listed.accounts.map(presentAccount), next_cursor: listed.nextCursor || null } };
  },
});
