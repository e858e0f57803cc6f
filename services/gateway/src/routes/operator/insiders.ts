import { isRefused, refused } from '@laurel/errors';
import type { Database } from '@laurel/postgres';
import { cutPage } from '@laurel/values/cursor';
import { isUuid } from '@laurel/values/ids';
import { MAX_PAGE_ROWS } from '@laurel/values/limits';
import type { WalletClient } from '../../clients/wallet.ts';
import { z } from '../../http/zod.ts';
import { findProgram } from '../../repository/programs.ts';
import { component } from '../component.ts';
import { id, nextCursor, page, pathId } from '../fields.ts';
import { defined } from '../run-route.ts';
import { timestamp, uuid } from '../v1/fields.ts';
import { defineOperatorRoute } from './route.ts';

interface Insiders {
  readonly database: Database;
  readonly wallet: WalletClient;
}

const params = z.object({ programId: pathId });

export const addInsider = defineOperatorRoute({
  method: 'post',
  path: '/programs/{programId}/insiders',
  name: 'addInsider',
  summary: 'Mark an account as an insider of a program',
  description:
    'An insider cannot pay for attempts in the live tournaments of the program: `insider_entry`. A repeated call changes nothing.',
  params,
  body: component('InsiderRequest', z.object({ account_id: id })),
  success: {
    status: 201,
    description: 'The account is marked as an insider.',
    schema: component('Insider', z.object({ program_id: uuid, account_id: uuid })),
  },
  refusals: { not_found: 'There is no such program or account.' },
  action: 'add_insider',
  run: async ({ params: { programId }, body, options }, { database, wallet }: Insiders) => {
    const program = await findProgram(database, programId);
    if (isRefused(program)) return program;
    const added = await wallet.addInsider({ programId: program.id, accountId: body.account_id }, options);
    if (isRefused(added)) return added;
    return {
      body: { program_id: program.id, account_id: body.account_id },
      logged: { accountId: body.account_id },
    };
  },
});

export const listInsiders = defineOperatorRoute({
  method: 'get',
  path: '/programs/{programId}/insiders',
  name: 'listInsiders',
  summary: 'List the insiders of a program',
  params,
  query: z.object(page),
  success: {
    status: 200,
    description: 'Newest account first.',
    schema: component(
      'InsiderList',
      z.object({
        data: z.array(
          component('ListedInsider', z.object({ account_id: uuid, email: z.string(), created_at: timestamp })),
        ),
        next_cursor: nextCursor,
      }),
    ),
  },
  run: async (
    { params: { programId }, query: { cursor, limit = MAX_PAGE_ROWS }, options },
    { database, wallet }: Insiders,
  ) => {
    if (cursor !== undefined && !isUuid(cursor)) {
      return refused('invalid_request', 'cursor: must be a next_cursor of this list');
    }
    const program = await findProgram(database, programId);
    if (isRefused(program)) return program;
    // One row more than requested shows whether another page follows.
    const listed = await wallet.listInsiders({ programId, beforeAccountId: cursor, limit: limit + 1 }, options);
    if (isRefused(listed)) return listed;
    const { page: insiders, last } = cutPage(listed.insiders, limit);
    const data = insiders.map(({ accountId, email, createdAt }) => ({
      account_id: accountId,
      email,
      created_at: defined(createdAt).toISOString(),
    }));
    return { body: { data, next_cursor: last?.accountId ?? null } };
  },
});

export const removeInsider = defineOperatorRoute({
  method: 'delete',
  path: '/programs/{programId}/insiders/{accountId}',
  name: 'removeInsider',
  summary: 'Make an account no insider of a program',
  description: 'The account can pay for attempts in the live tournaments of the program again.',
  params: z.object({ programId: pathId, accountId: pathId }),
  success: { status: 204, description: 'The account is no longer an insider.' },
  refusals: { not_found: 'The account is not an insider of the program.' },
  action: 'remove_insider',
  run: async ({ params: insider, options }, { wallet }: { wallet: WalletClient }) => {
    const removed = await wallet.removeInsider(insider, options);
    return isRefused(removed) ? removed : {};
  },
});
