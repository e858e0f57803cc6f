/**
 * `/.well-known/laurel-keys.json`: the keys that verify receipts and seals. The route is public,
 * and any cache may keep the response for a minute.
 */
import { Router } from 'express';
import type { SigningKeys } from '../clients/signing-keys.ts';
import { sendJson } from '../http/answer.ts';
import { contextOf } from '../http/context.ts';
import { presentSigningKeyList } from '../presenters/signing-key-list.ts';

export const SIGNING_KEY_LIST_PATH = '/.well-known/laurel-keys.json';

const CACHED = { 'Cache-Control': 'public, max-age=60' };

export function signingKeyListRouter(signingKeys: SigningKeys): Router {
  const router = Router();
  router.get(SIGNING_KEY_LIST_PATH, async (_request, response) => {
    contextOf(response).routeTemplate = SIGNING_KEY_LIST_PATH;
    sendJson(response, 200, presentSigningKeyList(await signingKeys.read()), CACHED);
  });
  return router;
}
