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
    'Creates or replaces the link of this `player_ref` in the program. A repeated call gets the same response. Another e-mail moves the link; open attempts stay with the account that paid. The call never creates an account. A test key finds only sandbox accounts of the program.',
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
