import { isRefused } from '@laurel/errors';
import type { WalletClient } from '../../clients/wallet.ts';
import type { Recording } from '../../http/route.ts';
import { z } from '../../http/zod.ts';
import { presentPlayerLinks } from '../../presenters/account.ts';
import { component } from '../component.ts';
import { environmentName, pathId } from '../fields.ts';
import { timestamp, uuid } from '../v1/fields.ts';
import { defineOperatorRoute } from './route.ts';

interface Accounts {
  readonly wallet: WalletClient;
}

const accountLink = component(
  'AccountLink',
  z.object({
    program_id: uuid,
    environment: environmentName,
    player_ref: z.string(),
    created_at: timestamp,
  }),
);

const severance = component('Severance', z.object({ program_id: uuid, severed_at: timestamp }));

const playerLinksSchema = component(
  'AccountLinks',
  z.object({
    data: z.array(accountLink),
    severed: z.array(severance).openapi({ description: 'The programs that may not link the account.' }),
  }),
);

const ofProgram = z.object({ accountId: pathId, programId: pathId });

/** How the log records severing and lifting, both of which change these links. */
const recording: Recording<Accounts, unknown> = {
  reads: async ({ subjectId, options }, { wallet }) => {
    if (subjectId === null) return null;
    const listed = await wallet.listPlayerLinks({ accountId: subjectId }, options);
    return isRefused(listed) ? null : presentPlayerLinks(listed);
  },
};

export const listPlayerLinks = defineOperatorRoute({
  method: 'get',
  path: '/accounts/{accountId}/player-links',
  name: 'listPlayerLinks',
  summary: 'List the links of an account and the programs that may not link it',
  description: 'One response has the links of every program, in test and live.',
  params: z.object({ accountId: pathId }),
  success: { status: 200, description: 'The links.', schema: playerLinksSchema },
  run: async ({ params: { accountId }, options }, { wallet }: Accounts) => {
    const listed = await wallet.listPlayerLinks({ accountId }, options);
    return isRefused(listed) ? listed : { body: presentPlayerLinks(listed) };
  },
});

export const severPlayerLinks = defineOperatorRoute({
  method: 'delete',
  path: '/accounts/{accountId}/player-links/{programId}',
  name: 'severPlayerLinks',
  summary: 'Remove all links of a program to an account, and refuse new ones',
  description:
    'Applies in test and live. From then on the program finds no account with this e-mail. Open attempts stay with the account that paid. A repeated call changes nothing.',
  params: ofProgram,
  success: { status: 204, description: 'The links are removed.' },
  refusals: { not_found: 'The program never linked the account.' },
  action: 'sever_player_links',
  recording,
  run: async ({ params: { accountId, programId }, options }, { wallet }: Accounts) => {
    const severed = await wallet.severPlayerLinks({ accountId, programId }, options);
    return isRefused(severed) ? severed : { logged: { severedLinks: severed.severedLinks } };
  },
});

export const liftSeverance = defineOperatorRoute({
  method: 'post',
  path: '/accounts/{accountId}/player-links/{programId}/lift',
  name: 'liftSeverance',
  summary: 'Let a program link an account again',
  description: 'The call restores no link: the program has to link the account again. A repeated call changes nothing.',
  params: ofProgram,
  success: { status: 204, description: 'The program may link the account again.' },
  refusals: { not_found: 'The program never linked the account.' },
  action: 'lift_severance',
  recording,
  run: async ({ params: { accountId, programId }, options }, { wallet }: Accounts) => {
    const lifted = await wallet.liftSeverance({ accountId, programId }, options);
    return isRefused(lifted) ? lifted : {};
  },
});
