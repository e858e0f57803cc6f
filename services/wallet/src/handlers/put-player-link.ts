/** PutPlayerLink: a partner's player_ref names an existing account; an existing ref moves. There is no auto-provisioning. */
import { type Refused, refused } from '@laurel/errors';
import type { Database } from '@laurel/postgres';
import type { PutPlayerLinkRequest, PutPlayerLinkResponse } from '@laurel/proto/wallet';
import type { Clock } from '@laurel/service';
import { normalizeEmail } from '../domain/account-details.ts';
import { loadAccountByEmail } from '../repository/accounts.ts';
import { putLink } from '../repository/player-links.ts';
import { parsePlayer } from './parse.ts';

export function putPlayerLink({ database, clock }: { database: Database; clock: Clock }) {
  return async (request: PutPlayerLinkRequest): Promise<PutPlayerLinkResponse | Refused> => {
    const player = parsePlayer(request.player);
    const account = await loadAccountByEmail(database, normalizeEmail(request.email));
    if (account === null || (account.sandboxOnly && player.environment === 'live')) return refused('not_found');
    return await putLink(database, player, account.id, clock());
  };
}
