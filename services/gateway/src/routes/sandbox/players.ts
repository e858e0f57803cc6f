import { isRefused } from '@laurel/errors';
import type { Router } from 'express';
import { z } from 'zod';
import type { Dependencies } from '../../dependencies.ts';
import { callOptions, notFound, parseBody, present, route, tenantOf } from '../api-route.ts';
import { amount } from '../fields.ts';
import { playerRef } from '../v1/schemas.ts';

/** Without `funds` the player has what they had before: nothing, if they are new. */
const putPlayer = z.object({ player_ref: playerRef, funds: amount.optional() });

export function sandboxPlayerRoutes(router: Router, deps: Dependencies): void {
  router.post(
    '/players',
    route(async (request) => {
      const body = parseBody(request, putPlayer);
      if (isRefused(body)) return body;
      const put = await deps.wallet.putSandboxPlayer(
        { player: { tenant: tenantOf(request), playerRef: body.player_ref }, fundsCents: body.funds ?? 0n },
        callOptions(request),
      );
      if (isRefused(put)) return put;
      const createdAt = present(put.createdAt).toISOString();
      return { status: 201, body: { player_ref: body.player_ref, linked: true, created_at: createdAt } };
    }),
  );

  router.post(
    '/players/:playerRef/hold-next-award',
    route(async (request) => {
      const named = playerRef.safeParse(request.params.playerRef);
      if (!named.success) return notFound();
      const held = await deps.wallet.holdNextAward(
        { player: { tenant: tenantOf(request), playerRef: named.data } },
        callOptions(request),
      );
      return isRefused(held) ? held : { status: 204 };
    }),
  );
}
