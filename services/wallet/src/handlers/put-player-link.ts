/**
 * PutPlayerLink: makes a partner's player_ref name an existing account; an existing ref moves. It
 * never creates an account. In live the ref names a person, in test a sandbox account of the
 * program. If the account was severed from the program, the result is `not_found`.
 */
import { type Refused, refused } from '@laurel/errors';
import type { Database } from '@laurel/postgres';
import type { PutPlayerLinkRequest, PutPlayerLinkResponse } from '@laurel/proto/wallet';
import type { Clock } from '@laurel/service';
import { normalizeEmail } from '../domain/account-details.ts';
import { houseOf } from '../domain/ledger.ts';
import { loadAccountByEmail } from '../repository/accounts.ts';
import { putLink } from '../repository/player-links.ts';
import { parsePlayer } from './parse.ts';

export function putPlayerLink({ database, clock }: { database: Database; clock: Clock }) {
  return async (request: PutPlayerLinkRequest): Promise<PutPlayerLinkResponse | Refused> => {
    const player = parsePlayer(request.player);
    const account = await loadAccountByEmail(database, houseOf(player), normalizeEmail(request.email));
    if (account === null) return refused('not_found');
    return (await putLink(database, player, account.id, clock())) ?? refused('not_found');
  };
}
