import { isRefused } from '@laurel/errors';
import type { z } from 'zod';
import { defineRoute } from './route.ts';
import { playerLinkSchema, putPlayerBody } from './schemas.ts';

export const putPlayer = defineRoute<undefined, z.output<typeof putPlayerBody>>({
  method: 'post',
  path: '/players',
  name: 'putPlayer',
  summary: 'Link a player_ref to an existing account',
  description:
    'Upserts on program and `player_ref`: repeating it answers the same. Another e-mail moves the link; open attempts stay with the account that paid. There is no auto-provisioning.',
  body: putPlayerBody,
  success: { status: 201, description: 'Linked.', schema: playerLinkSchema },
  refusals: {
    invalid_request: '`player_ref` or `email` is missing.',
    not_found: 'No account has this e-mail.',
  },
  run: async ({ principal, body, requestId }, { wallet }) => {
    const linked = await wallet.putPlayerLink(
      { player: { tenant: principal.tenant, playerRef: body.player_ref }, email: body.email },
      { requestId, retryLostReply: true },
    );
    if (isRefused(linked)) return linked;
    if (linked.createdAt === undefined) throw new Error('the wallet left out when the link was created');
    return JSON.stringify({ player_ref: body.player_ref, linked: true, created_at: linked.createdAt.toISOString() });
  },
});
