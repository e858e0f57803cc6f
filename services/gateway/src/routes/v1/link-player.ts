import { isRefused } from '@laurel/errors';
import type { WalletClient } from '../../clients/wallet.ts';
import { linkPlayerBody, playerLinkSchema } from './player-schemas.ts';
import { defineV1Route } from './route.ts';

export const linkPlayer = defineV1Route({
  method: 'post',
  path: '/players',
  name: 'linkPlayer',
  summary: 'Link a player_ref to an existing account',
  description:
    'Upserts on program and `player_ref`: repeating it answers the same. Another e-mail moves the link; open attempts stay with the account that paid. There is no auto-provisioning. With a test key the account is a sandbox account of the program; no other account is found there.',
  body: linkPlayerBody,
  success: { status: 201, description: 'Linked.', schema: playerLinkSchema },
  refusals: {
    invalid_request: '`player_ref` or `email` is missing.',
    not_found: 'No account has this e-mail.',
  },
  run: async ({ caller, body, options }, { wallet }: { wallet: WalletClient }) => {
    const linked = await wallet.putPlayerLink(
      { player: { tenant: caller.tenant, playerRef: body.player_ref }, email: body.email },
      { ...options, retryLostReply: true },
    );
    if (isRefused(linked)) return linked;
    if (linked.createdAt === undefined) throw new Error('the wallet left out when the link was created');
    return JSON.stringify({ player_ref: body.player_ref, linked: true, created_at: linked.createdAt.toISOString() });
  },
});
