/**
 * HoldNextAward: holds a sandbox player's next payout, whatever the other rules decide. It does not
 * exist for live players.
 */
import { type Refused, refused } from '@laurel/errors';
import type { Database } from '@laurel/postgres';
import type { HoldNextAwardRequest, HoldNextAwardResponse } from '@laurel/proto/wallet';
import { playerLedgerId } from '../domain/ledger.ts';
import { openPlayers, playerLedgerKeyOf, holdNextAward as writeHold } from '../repository/ledger.ts';
import { loadLink } from '../repository/player-links.ts';
import { parsePlayer } from './parse.ts';

export function holdNextAward({ database }: { database: Database }) {
  return async (request: HoldNextAwardRequest): Promise<HoldNextAwardResponse | Refused> => {
    const player = parsePlayer(request.player);
    const link = player.environment === 'test' ? await loadLink(database, player) : null;
    if (link === null) return refused('not_found');
    await openPlayers(database, [playerLedgerKeyOf({ ...player, ...link })]);
    await writeHold(database, playerLedgerId(link.accountId, 'test'));
    return {};
  };
}
